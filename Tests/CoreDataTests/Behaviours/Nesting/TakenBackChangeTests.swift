import CoreData
import Foundation
import Testing

/// A child's change that a later save of the child takes back, before the parent saves.
///
/// What is left is an assignment of the stored value, which is not a change: a value that another context
/// saves meanwhile is shown, and stays.
@Suite struct TakenBackChangeTests {
  /// A context, a child that has changed an author's age and taken it back, and the author in the context.
  private struct Levels {
    let stack: TestStack
    let context: NSManagedObjectContext
    let child: NSManagedObjectContext
    let author: NSManagedObject

    init(_ setting: Setting) throws {
      stack = try TestStack(setting)
      context = stack.sibling()
      child = stack.child(of: context)
      try stack.fresh { other in
        other.insert("Author", ["name": "Ada", "age": 36])
        try other.save()
      }
      let context = context
      context.mergePolicy = NSMergePolicy.overwrite
      author = try context.performAndWait { try #require(try context.all("Author").first) }
      for age in [34, 36] { try setAge(age, in: child) }
    }

    func setAge(_ age: Int, in context: NSManagedObjectContext) throws {
      try context.performAndWait {
        try #require(try context.all("Author").first).setValue(age, forKey: "age")
        try context.save()
      }
    }

    /// Saves another age in another context, and merges the save.
    func mergeAge(_ age: Int) throws {
      let other = stack.sibling()
      let save = try other.saved {
        try #require(try other.all("Author").first).setValue(age, forKey: "age")
      }
      context.performAndWait { context.mergeChanges(fromContextDidSave: save) }
    }

    func storedAge() throws -> Int? {
      try stack.fresh { try $0.all("Author").first?.value(forKey: "age") as? Int }
    }

    var shownAge: Int? { context.performAndWait { author.value(forKey: "age") as? Int } }
  }

  @Test(arguments: Setting.direct)
  func `the value saved elsewhere is shown and stays`(_ setting: Setting) throws {
    let levels = try Levels(setting)
    try levels.mergeAge(17)
    #expect(levels.shownAge == 17)
    try levels.context.performAndWait { try levels.context.save() }
    #expect(levels.shownAge == 17)
    try #expect(levels.storedAge() == 17)
  }

  @Test(arguments: Setting.direct)
  func `children read the value saved elsewhere`(_ setting: Setting) throws {
    let levels = try Levels(setting)
    try levels.mergeAge(17)
    let child = levels.stack.child(of: levels.context)
    try #expect(child.performAndWait { try child.all("Author").first?.value(forKey: "age") as? Int } == 17)
  }

  @Test(arguments: Setting.direct)
  func `the child's next change is saved`(_ setting: Setting) throws {
    let levels = try Levels(setting)
    try levels.mergeAge(17)
    try levels.setAge(50, in: levels.child)
    try levels.context.performAndWait { try levels.context.save() }
    #expect(levels.shownAge == 50)
    try #expect(levels.storedAge() == 50)
  }

  @Test(arguments: Setting.direct)
  func `a member that the parent took back is gone from the child's`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root)
    let tag = try stack.stored("Tag", ["name": "new"]).objectID
    let book = try stack.stored("Book", ["title": "Notes"]).objectID
    let shown = try child.performAndWait {
      let shown = child.object(with: book)
      shown.setValue(33.0, forKey: "price")
      shown.mutableSetValue(forKey: "tags").add(child.object(with: tag))
      try child.save()
      #expect(shown.objects("tags").count == 1)
      return shown
    }
    // The parent's save reports the price, which the child has, and no change of the tags.
    let save = try root.saved {
      root.object(with: book).mutableSetValue(forKey: "tags").remove(root.object(with: tag))
    }
    child.performAndWait {
      child.mergeChanges(fromContextDidSave: save)
      #expect(shown.objects("tags").isEmpty)
    }
  }
}
