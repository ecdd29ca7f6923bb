import CoreData
import Foundation
import Testing

/// Two stores of one model, each with the entities of a configuration.
@Suite struct SeveralStoresTests {
  private let _model: NSManagedObjectModel
  private let _directory: URL

  init() throws {
    let person = LibraryModel.entity("Person")
    person.properties = [LibraryModel.attribute("name", .stringAttributeType)]
    let note = LibraryModel.entity("Note")
    note.properties = [LibraryModel.attribute("text", .stringAttributeType)]
    _model = NSManagedObjectModel()
    _model.entities = [person, note]
    _model.setEntities([person], forConfigurationName: "People")
    _model.setEntities([note], forConfigurationName: "Notes")
    _directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("coredata-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: _directory, withIntermediateDirectories: true)
  }

  private func _coordinator() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: _model)
    for configuration in ["People", "Notes"] {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: configuration,
        at: _directory.appendingPathComponent("\(configuration).sqlite"))
    }
    return coordinator
  }

  @Test func aStoreOfAConfigurationOpensAgain() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let context = try _coordinator().newContext()
    try context.performAndWait {
      context.insert("Person", ["name": "Ada"])
      context.insert("Note", ["text": "first"])
      try context.save()
    }
    let again = try _coordinator().newContext()
    try again.performAndWait {
      try #expect(again.all("Person").map { $0.text("name") } == ["Ada"])
      try #expect(again.count("Note") == 1)
    }
  }

  @Test func whatTheFirstStoreHasGotIsSeenByFaults() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let coordinator = try _coordinator()
    let context = coordinator.newContext()
    let (person, note) = try context.performAndWait {
      let person = context.insert("Person", ["name": "Ada"])
      let note = context.insert("Note", ["text": "first"])
      try context.save()
      return (person, note)
    }
    // Somebody else writes the note meanwhile.
    let other = try _coordinator().newContext()
    try other.performAndWait {
      try other.all("Note")[0].setValue("theirs", forKey: "text")
      try other.save()
    }
    context.performAndWait {
      person.setValue("Augusta", forKey: "name")
      note.setValue("ours", forKey: "text")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.errorCode == NSPersistentStoreIncompleteSaveError)
    }
    let fresh = coordinator.newContext()
    fresh.performAndWait { #expect(fresh.object(with: person.objectID).text("name") == "Augusta") }
  }
}
