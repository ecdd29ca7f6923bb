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
}
