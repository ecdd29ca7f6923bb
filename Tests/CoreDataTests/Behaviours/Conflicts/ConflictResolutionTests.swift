import CoreData
import Foundation
import TestSupport
import Testing

/// The result of each merge policy when two contexts change one object, on generated cases.
@Suite struct ConflictResolutionTests {
  private static let _names = ["pages", "copies", "price"]

  /// The values of a book's numbers.
  private typealias Numbers = [Int]

  private func numbers(_ book: NSManagedObject) -> Numbers {
    Self._names.map { Int((book.value(forKey: $0) as? NSNumber)?.doubleValue ?? -1) }
  }

  private func set(_ numbers: Numbers, in book: NSManagedObject, whereOtherThan base: Numbers) {
    for (index, name) in Self._names.enumerated() where numbers[index] != base[index] {
      book.setValue(numbers[index], forKey: name)
    }
  }

  /// Returns the values that must be stored in the end, by the policies' documentation.
  private func expected(
    _ policy: NSMergePolicyType, base: Numbers, mine: Numbers, theirs: Numbers
  ) -> Numbers {
    zip(base, zip(mine, theirs)).map { base, changed in
      let (mine, theirs) = changed
      return switch policy {
      case .mergeByPropertyObjectTrumpMergePolicyType: mine != base ? mine : theirs
      case .mergeByPropertyStoreTrumpMergePolicyType: theirs != base ? theirs : mine
      case .overwriteMergePolicyType: mine
      default: theirs
      }
    }
  }

  @Test(arguments: [
    NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    .overwriteMergePolicyType, .rollbackMergePolicyType,
  ])
  func `a policy settles each property as it says`(_ policy: NSMergePolicyType) throws {
    var random = SeededRandom(seed: UInt64(7 + policy.rawValue))
    let stack = try TestStack(.sqlite)
    for number in 0..<150 {
      let base = Self._names.map { _ in random.below(3) }
      func changed(_ random: inout SeededRandom) -> Numbers {
        base.map { random.chance(50) ? random.below(3) : $0 }
      }
      let (mine, theirs) = (changed(&random), changed(&random))
      let id = try stack.context.performAndWait {
        let book = stack.context.insert("Book")
        for (index, name) in Self._names.enumerated() { book.setValue(base[index], forKey: name) }
        try stack.context.save()
        return book.objectID
      }
      let (first, second) = (
        NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue)
      )
      first.persistentStoreCoordinator = stack.coordinator
      second.persistentStoreCoordinator = stack.coordinator
      first.mergePolicy = NSMergePolicy(merge: policy)
      try first.performAndWait {
        let book = try first.existingObject(with: id)
        #expect(numbers(book) == base)
        try second.performAndWait {
          try set(theirs, in: second.existingObject(with: id), whereOtherThan: base)
          try second.save()
        }
        set(mine, in: book, whereOtherThan: base)
        try first.save()
        // A policy applies only if both changed the object.
        let wanted =
          mine == base
          ? theirs
          : theirs == base ? mine : expected(policy, base: base, mine: mine, theirs: theirs)
        first.reset()
        let stored = try numbers(first.existingObject(with: id))
        #expect(stored == wanted, "\(number): \(base), mine \(mine), theirs \(theirs)")
      }
    }
  }

  @Test func `a retry in a new context reads the row that the conflict found`() throws {
    let stack = try TestStack(.sqlite)
    let id = try stack.root.performAndWait {
      let author = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return author.objectID
    }
    // Has read the row before it is overwritten.
    let first = stack.sibling()
    let mine = try first.performAndWait { try first.existingObject(with: id) }
    let other = try stack.otherCoordinator().newContext()
    try other.performAndWait {
      let author = try #require(try other.all("Author", by: "name").first)
      author.setValue("Eve", forKey: "name")
      try other.save()
    }
    let error = #expect(throws: CocoaError.self) {
      try first.performAndWait {
        mine.setValue("first", forKey: "name")
        try first.save()
      }
    }
    #expect(error?.errorCode == NSManagedObjectMergeError)
    let second = stack.sibling()
    try second.performAndWait {
      try second.existingObject(with: id).setValue("second", forKey: "name")
      try second.save()
    }
    let names = try stack.fresh { try $0.all("Author", by: "name").map { $0.text("name") } }
    #expect(names == ["second"])
  }
}
