import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Both ends of a pair of a many-to-many record the same, whatever is done to it. `PAIR_CASES` sets the number of
/// generated cases.
@Suite struct ManyToManyLawTests {
  private static let _cases = ProcessInfo.processInfo.environment["PAIR_CASES"].flatMap { Int($0) } ?? 150

  /// Books and tags of a context, which others and its children change as well.
  private final class Case {
    let stack: TestStack
    let context: NSManagedObjectContext
    let child: NSManagedObjectContext
    let other: NSManagedObjectContext
    private let _books: [NSManagedObjectID]
    private let _tags: [NSManagedObjectID]
    private let _seed: Int
    private var _random: SeededRandom

    init(_ seed: Int) throws {
      let stack = try TestStack(seed % 10 == 0 ? .sqlite : .memory)
      self.stack = stack
      (context, other) = (stack.root, stack.sibling())
      child = stack.child(of: context)
      for context in [context, child, other] { context.retainsRegisteredObjects = true }
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      _books = try (0..<3).map { try stack.stored("Book", ["title": "\($0)"]).objectID }
      _tags = try (0..<3).map { try stack.stored("Tag", ["name": "\($0)"]).objectID }
      _seed = seed
      _random = SeededRandom(seed: UInt64(seed))
      context.performAndWait { [context] in context.undoManager = UndoManager() }
    }

    func run(_ steps: Int) throws {
      for _ in 0..<steps {
        switch _random.below(12) {
        case 0: try merge(child, into: nil)
        case 1: try merge(other, into: context)
        case 2: try merge(context, into: other)
        case 3: context.performAndWait { context.undo() }
        case 4: context.performAndWait { _random.chance(30) ? context.rollback() : context.redo() }
        case 5: _edit(child)
        case 6: _edit(other)
        default: _edit(context)
        }
        try check()
      }
    }

    private func merge(_ from: NSManagedObjectContext, into target: NSManagedObjectContext?) throws {
      let saved = try from.saved {}
      target?.performAndWait { target?.mergeChanges(fromContextDidSave: saved) }
    }

    private func _edit(_ context: NSManagedObjectContext) {
      context.performAndWait {
        let book = context.object(with: _books[_random.below(3)])
        let tag = context.object(with: _tags[_random.below(3)])
        if book.isDeleted || tag.isDeleted { return }
        let (owner, key, member) = _random.chance(50) ? (book, "tags", tag) : (tag, "books", book)
        switch _random.below(8) {
        case 0: _ = owner.objects(key)
        case 1: context.refresh(owner, mergeChanges: true)
        case 2...4: owner.mutableSetValue(forKey: key).remove(member)
        default: owner.mutableSetValue(forKey: key).add(member)
        }
        if _random.chance(60) { context.processPendingChanges() }
      }
    }

    /// Compares what both ends record, without reading anything.
    func check() throws {
      for context in [context, child, other] {
        try context.performAndWait {
          for (ids, key, inverse) in [(_books, "tags", "books"), (_tags, "books", "tags")] {
            for owner in ids.compactMap({ context.registeredObject(for: $0) }) {
              let slot = try #require(owner._layout.slot(named: key))
              for (member, change) in owner._relations?.members(slot)?.changes.all ?? [] {
                let back = try #require(member._layout.slot(named: inverse))
                let other = member._relations?.members(back)?.changes[owner]
                #expect(other?.isMember == change.isMember, "seed \(_seed)")
              }
            }
          }
        }
      }
    }

    /// Compares both ends of all pairs once everything is saved and merged.
    func finish() throws {
      try merge(child, into: nil)
      for _ in 0..<2 {
        try merge(context, into: other)
        try merge(other, into: context)
      }
      let stored = stack.fresh { _pairs($0) }
      #expect(context.performAndWait { _pairs(context) } == stored, "seed \(_seed)")
      #expect(other.performAndWait { _pairs(other) } == stored, "seed \(_seed)")
    }

    private func _pairs(_ context: NSManagedObjectContext) -> Set<String> {
      func names(_ ids: [NSManagedObjectID], _ key: String, _ members: String, _ name: String) -> Set<String>
      {
        var found: Set<String> = []
        for owner in ids.map(context.object(with:)) {
          for member in owner.objects(members) {
            let (one, two) = ("\(owner.value(forKey: key)!)", "\(member.value(forKey: name)!)")
            found.insert(members == "tags" ? "\(one) \(two)" : "\(two) \(one)")
          }
        }
        return found
      }
      let pairs = names(_books, "title", "tags", "name")
      #expect(names(_tags, "name", "books", "title") == pairs, "seed \(_seed)")
      return pairs
    }
  }

  @Test func `both ends of a pair record the same`() throws {
    for seed in 0..<Self._cases {
      let test = try Case(seed)
      try test.run(30)
      try test.finish()
    }
  }

  @Test func `changed members are found as in a dictionary`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let objects = (0..<60).map { _ in stack.context.insert("Tag") }
      for seed in 0..<Self._cases {
        var random = SeededRandom(seed: UInt64(seed))
        var changes = MemberChanges()
        var expected: [NSManagedObject: Bool] = [:]
        let range = 1 + random.below(objects.count)
        for _ in 0..<200 {
          let object = objects[random.below(range)]
          if random.chance(45) {
            (changes[object], expected[object]) = (nil, nil)
          } else {
            let isMember = random.chance(50)
            changes[object] = MemberChange(isMember: isMember, wasMember: nil)
            expected[object] = isMember
          }
          try #require(changes.isEmpty == expected.isEmpty)
        }
        for object in objects { #expect(changes[object]?.isMember == expected[object]) }
        #expect(Set(changes.added) == Set(expected.filter(\.value).keys))
        #expect(Set(changes.removed) == Set(expected.filter { !$0.value }.keys))
      }
    }
  }
}
