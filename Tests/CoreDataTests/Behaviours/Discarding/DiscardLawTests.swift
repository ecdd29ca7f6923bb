import CoreData
import Foundation
import TestSupport
import Testing

/// What children show after their parent has discarded generated changes. `DISCARD_CASES` sets the number of
/// cases.
@Suite struct DiscardLawTests {
  private static let _cases =
    ProcessInfo.processInfo.environment["DISCARD_CASES"].flatMap { Int($0) } ?? 150

  /// A library with a few objects, a parent on it, and a child of the parent that retains its objects.
  private final class Case {
    let stack: TestStack
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext
    let seed: Int
    var random: SeededRandom
    private var _serial = 0

    init(_ seed: Int, _ setting: Setting) throws {
      stack = try TestStack(setting)
      parent = stack.root
      child = stack.child(of: parent)
      child.retainsRegisteredObjects = true
      self.seed = seed
      random = SeededRandom(seed: UInt64(seed))
      try edit(parent, 12)
      try parent.performAndWait { try parent.save() }
    }

    func edit(_ context: NSManagedObjectContext, _ count: Int) throws {
      try context.performAndWait {
        let editor = GraphEditor(context, isAlone: false)
        for _ in 0..<count { _ = try editor.edit(&random, serial: &_serial) }
      }
    }

    func view(_ context: NSManagedObjectContext) throws -> GraphView {
      try context.performAndWait { try GraphView(context) }
    }

    /// Drops the parent's unsaved changes, and lets the child learn of it.
    func discard() {
      parent.performAndWait {
        if random.chance(70) { parent.rollback() } else { parent.reset() }
      }
      child.performAndWait {}
    }

    /// Compares the child with what a new context reads from the store.
    func check() throws {
      let comment: Comment = "seed \(seed)"
      let stored = try stack.fresh { try GraphView($0) }
      let shown = try view(child)
      #expect(stored.flaws.isEmpty, comment)
      #expect(shown.flaws.isEmpty, comment)
      #expect(shown.differences(from: stored).isEmpty, comment)
    }
  }

  private func forEachCase(_ body: (Case) throws -> Void) throws {
    for seed in 0..<Self._cases {
      try body(Case(seed, seed % 10 == 0 ? .sqlite : .memory))
    }
  }

  @Test func `a child without changes shows what is stored`() throws {
    try forEachCase { test in
      try test.edit(test.parent, 1 + test.random.below(8))
      _ = try test.view(test.child)
      if test.random.chance(50) {
        try test.edit(test.child, 3)
        try test.child.performAndWait { try test.child.save() }
      }
      test.discard()
      try test.check()
    }
  }

  @Test func `what a child has changed can be saved`() throws {
    try forEachCase { test in
      try test.edit(test.parent, 1 + test.random.below(8))
      _ = try test.view(test.child)
      try test.edit(test.child, 1 + test.random.below(6))
      test.discard()
      try test.child.performAndWait { try test.child.save() }
      try test.parent.performAndWait { try test.parent.save() }
      try test.check()
    }
  }

  @Test func `a link to an object deleted in a child, restored by its parent, is cut`() throws {
    let stack = try TestStack(.memory)
    let (parent, child) = (stack.root, stack.child(of: stack.root))
    child.retainsRegisteredObjects = true
    let ids = try parent.performAndWait {
      let (mentor, pupil) = (
        NSManagedObject(entity: "Author", in: parent), NSManagedObject(entity: "Author", in: parent)
      )
      pupil.setValue(mentor, forKey: "mentor")
      try parent.save()
      pupil.setValue(nil, forKey: "mentor")
      parent.processPendingChanges()
      return (mentor: mentor.objectID, pupil: pupil.objectID)
    }
    child.performAndWait {
      #expect(child.object(with: ids.pupil).value(forKey: "mentor") == nil)
      child.delete(child.object(with: ids.mentor))
      child.processPendingChanges()
    }
    parent.performAndWait { parent.rollback() }
    try child.performAndWait {
      #expect(child.object(with: ids.pupil).value(forKey: "mentor") == nil)
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    let isFree = try stack.fresh { try $0.existingObject(with: ids.pupil).value(forKey: "mentor") == nil }
    #expect(isFree)
  }
}

extension NSManagedObject {
  fileprivate convenience init(entity name: String, in context: NSManagedObjectContext) {
    self.init(entity: NSEntityDescription.entity(forEntityName: name, in: context)!, insertInto: context)
  }
}
