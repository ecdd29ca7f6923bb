import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

/// The state after a save that the store refuses.
@Suite struct FailedSaveTests {
  private func execute(_ sql: String, _ stack: TestStack) throws {
    try Connection(path: stack.url.path, busyTimeout: 5).execute(sql)
  }

  @Test(.ofFiles, arguments: [Setting.sqlite, .nestedOverSQLite])
  func `inserted objects have permanent IDs and stay inserted`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON ZAUTHOR BEGIN SELECT RAISE(ABORT, 'refused'); END", stack)
    let ada = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      if setting.isNested { try stack.context.save() }
      return ada
    }
    let id = try stack.root.performAndWait {
      #expect(throws: CocoaError.self) { try stack.root.save() }
      let inserted = try #require(stack.root.insertedObjects.first)
      #expect(inserted.isInserted)
      #expect(!inserted.objectID.isTemporaryID)
      return inserted.objectID
    }
    try execute("DROP TRIGGER refuse", stack)
    try stack.root.performAndWait {
      try stack.root.save()
      #expect(!stack.root.hasChanges)
    }
    stack.fresh { context in #expect(context.object(with: id).text("name") == "Ada") }
    withExtendedLifetime(ada) {}
  }

  @Test func `a refused duplicate has its permanent ID too`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.uniquenessConstraints = [["name"]]
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      let second = stack.context.insert("Author", ["name": "Ada"])
      #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(second.isInserted)
      #expect(!second.objectID.isTemporaryID)
      let id = second.objectID
      second.setValue("Eve", forKey: "name")
      try stack.context.save()
      #expect(second.objectID == id)
    }
  }
}
