import CoreData
import Foundation
import Testing

/// Two contexts change an object whose row a third one has deleted, and both insert the row again at once.
@Suite struct InsertedAgainTests {
  /// Lets another context save between a conflict and its resolution.
  private final class OvertakenPolicy: NSMergePolicy, @unchecked Sendable {
    private var _others: [() throws -> Void]

    init(_ others: @escaping () throws -> Void) {
      _others = [others]
      super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      try _others.popLast()?()
      try super.resolve(optimisticLockingConflicts: list)
    }
  }

  @Test(arguments: Setting.direct)
  func `the second one updates the row that the first has inserted`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.stored("Book", ["title": "Notes", "pages": 1]).objectID
    let (first, second) = (stack.sibling(), stack.sibling())
    func change(_ context: NSManagedObjectContext, _ key: String, _ value: Any) throws {
      try context.performAndWait { try context.existingObject(with: id).setValue(value, forKey: key) }
    }
    try change(first, "title", "First")
    try change(second, "pages", 2)
    try stack.fresh { fresh in
      fresh.delete(try fresh.existingObject(with: id))
      try fresh.save()
    }
    first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    second.mergePolicy = OvertakenPolicy { try first.performAndWait { try first.save() } }
    try second.performAndWait {
      try second.save()
      #expect(!second.hasChanges)
      second.object(with: id).setValue(3, forKey: "pages")
      try second.save()
    }
    try stack.fresh { fresh in
      let books = try fresh.all("Book")
      #expect(books.map(\.objectID) == [id] && books[0].value(forKey: "pages") as? Int == 3)
      #expect(["Notes", "First"].contains(books[0].text("title")))
    }
  }

  // MARK: Known from before the deletion

  /// Has an author saved three times, deleted, and inserted again by a context that has read the first version.
  ///
  /// - Returns: The author in the stack's context, which has read the last version before the deletion, and the
  ///   notifications of the last change, the deletion and the insertion.
  private func _insertedAgain(_ stack: TestStack) throws -> (NSManagedObject, [Notification]) {
    let ada = try stack.stored("Author", ["name": "Ada"])
    let id = ada.objectID
    let (writer, late) = (stack.sibling(), stack.sibling())
    try late.performAndWait {
      late.mergePolicy = NSMergePolicy.overwrite
      try late.existingObject(with: id).setValue("Again", forKey: "name")
    }
    let saves = try (1...3).map { age in
      try writer.saved { writer.object(with: id).setValue(age, forKey: "age") }
    }
    stack.context.performAndWait {
      stack.context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "age") as? Int == 3)
    }
    let deletion = try writer.saved { writer.delete(writer.object(with: id)) }
    return (ada, [saves[2], deletion, try late.saved {}])
  }

  @Test(arguments: Setting.direct)
  func `a row that was inserted again is newer than all its versions before`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (ada, notifications) = try _insertedAgain(stack)
    stack.context.performAndWait {
      for notification in notifications.dropFirst() {
        stack.context.mergeChanges(fromContextDidSave: notification)
      }
      #expect(ada.text("name") == "Again")
      #expect(ada.value(forKey: "age") as? Int == 18)
    }
  }

  @Test(arguments: Setting.direct)
  func `a save from before the deletion that comes late changes nothing`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (ada, notifications) = try _insertedAgain(stack)
    stack.context.performAndWait {
      for notification in [notifications[1], notifications[2], notifications[0]] {
        stack.context.mergeChanges(fromContextDidSave: notification)
      }
      #expect(ada.text("name") == "Again")
      #expect(ada.value(forKey: "age") as? Int == 18)
    }
  }

  // MARK: Links that went with the deleted row

  /// When a context merges a deletion and the insertion that follows it.
  enum Arrival: CaseIterable {
    case deletionFirst
    case insertionFirst
    case deletionBeforeInsertion
  }

  @Test(arguments: Setting.allCases, Arrival.allCases)
  func `a to-many does not keep a member that was inserted again without its links`(
    _ setting: Setting, _ arrival: Arrival
  ) throws {
    let stack = try TestStack(setting)
    let book = try stack.stored("Book", ["title": "Notes"]).objectID
    let tag = try stack.stored("Tag", ["name": "Math"]).objectID
    let author = try stack.stored("Author", ["name": "Ada"]).objectID
    let (main, writer, late) = (stack.sibling(), stack.sibling(), stack.sibling())
    let form = stack.child(of: main)
    try form.performAndWait {
      form.delete(try form.existingObject(with: author))
      form.processPendingChanges()
    }
    try writer.performAndWait {
      let tags: Set = [try writer.existingObject(with: tag)]
      try writer.existingObject(with: book).setValue(tags, forKey: "tags")
      try writer.save()
    }
    let reader = setting.isNested ? stack.child(of: stack.sibling()) : stack.sibling()
    // Kept: what is let go is read anew.
    let math = try reader.performAndWait {
      let math = try reader.existingObject(with: tag)
      #expect(math.objects("books").map(\.objectID) == [book])
      #expect(math.objects("books").first?.text("title") == "Notes")
      return math
    }
    try late.performAndWait {
      late.mergePolicy = NSMergePolicy.overwrite
      try late.existingObject(with: book).setValue("Again", forKey: "title")
    }
    // The store deletes the book by the rule of its author's books: the save does not know its tags.
    let link = try writer.saved {
      try writer.existingObject(with: book).setValue(writer.existingObject(with: author), forKey: "author")
    }
    for context in [main, form] { context.performAndWait { context.mergeChanges(fromContextDidSave: link) } }
    try form.performAndWait { try form.save() }
    let deletion = try main.saved {}
    func merge(_ notification: Notification) {
      reader.performAndWait { reader.mergeChanges(fromContextDidSave: notification) }
    }
    if arrival == .deletionBeforeInsertion { merge(deletion) }
    let insertion = try late.saved {}
    for notification in arrival == .insertionFirst ? [insertion, deletion] : [deletion, insertion] {
      merge(notification)
    }
    try reader.performAndWait {
      let notes = try reader.existingObject(with: book)
      #expect(notes.text("title") == "Again")
      #expect(math.objects("books").isEmpty && notes.objects("tags").isEmpty)
    }
  }
}
