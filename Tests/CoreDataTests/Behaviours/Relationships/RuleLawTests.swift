import CoreData
import Foundation
import TestSupport
import Testing

/// What stores hold after deletions in generated graphs that somebody else has linked meanwhile. `RULE_CASES` sets the
/// number of cases.
@Suite struct RuleLawTests {
  private static let _cases = ProcessInfo.processInfo.environment["RULE_CASES"].flatMap { Int($0) } ?? 150

  /// A store that several cases use one after the other, since opening one takes longer than a case.
  private final class Case {
    let stack: TestStack
    let others: [NSPersistentStoreCoordinator]
    let reader: NSPersistentStoreCoordinator?
    private static let _denials = [
      NSValidationRelationshipDeniedDeleteError, NSValidationMultipleErrorsError,
    ]
    private static let _toOnes = RuleModel.links.map(\.toOne) + ["shelf"]

    init(_ setting: Setting) throws {
      stack = try TestStack(setting, model: RuleModel.make())
      others = try setting.isSQLite ? [stack.coordinator, stack.otherCoordinator()] : [stack.coordinator]
      reader = setting.isSQLite ? try stack.otherCoordinator() : nil
    }

    func run(_ random: inout SeededRandom) throws {
      let owners = try _insert(["Owner", "SpecialOwner"], 2 + random.below(3), &random)
      let items = try _insert(["Item", "SpecialItem"], 1 + random.below(5), &random)
      let parts = try _insert(["Part"], random.below(3), &random)
      let parent = stack.sibling()
      parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let deleter = random.chance(30) ? stack.child(of: parent) : parent
      deleter.retainsRegisteredObjects = true
      try deleter.performAndWait {
        try _edit(deleter, owners, items, parts, &random)
        for _ in 0...random.below(2) { deleter.delete(deleter.object(with: random.pick(owners)!)) }
        deleter.processPendingChanges()
      }
      for _ in 0...random.below(4) { try _interfere(owners, items, parts, &random) }
      for context in deleter === parent ? [parent] : [deleter, parent] {
        try context.performAndWait {
          do {
            try context.save()
          } catch let error as CocoaError where Self._denials.contains(error.code.rawValue) {
            context.rollback()
          }
        }
      }
    }

    private func _insert(
      _ entities: [String], _ count: Int, _ random: inout SeededRandom
    ) throws -> [NSManagedObjectID] {
      let context = stack.root
      return try context.performAndWait {
        let objects = (0..<count).map { _ in context.insert(random.pick(entities)!) }
        try context.save()
        return objects.map(\.objectID)
      }
    }

    /// Reads members, and moves some of them.
    private func _edit(
      _ context: NSManagedObjectContext, _ owners: [NSManagedObjectID], _ items: [NSManagedObjectID],
      _ parts: [NSManagedObjectID], _ random: inout SeededRandom
    ) throws {
      for owner in owners where random.chance(70) {
        for link in RuleModel.links { _ = context.object(with: owner).objects(link.toMany).count }
      }
      for item in items where random.chance(40) {
        let owner = context.object(with: random.pick(owners)!)
        context.object(with: item).setValue(owner, forKey: random.pick(Self._toOnes)!)
      }
      for part in parts where random.chance(40) {
        context.object(with: part).setValue(context.object(with: random.pick(items)!), forKey: "item")
      }
      if random.chance(30) { context.delete(context.object(with: random.pick(items)!)) }
    }

    /// Links rows by a save, or by a batch, which leaves the targets' versions as they are.
    private func _interfere(
      _ owners: [NSManagedObjectID], _ items: [NSManagedObjectID], _ parts: [NSManagedObjectID],
      _ random: inout SeededRandom
    ) throws {
      let coordinator = random.pick(others)!
      let context = coordinator.newContext()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let isPart = !parts.isEmpty && random.chance(30)
      let key = isPart ? "item" : random.pick(Self._toOnes)!
      func local(_ id: NSManagedObjectID) throws -> NSManagedObjectID {
        try #require(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      }
      let member = try local(random.pick(isPart ? parts : items)!)
      let target = try local(random.pick(isPart ? items : owners)!)
      try context.performAndWait {
        if stack.setting.isSQLite, random.chance(60) {
          let request = NSBatchUpdateRequest(entityName: isPart ? "Part" : "Item")
          request.predicate = NSPredicate(format: "SELF == %@", member)
          request.propertiesToUpdate = [key: target]
          try context.execute(request)
        } else {
          context.object(with: member).setValue(context.object(with: target), forKey: key)
          try context.save()
        }
      }
    }

    /// Returns the to-ones that point at no row, read by another coordinator where there can be one.
    func dangling() throws -> [String] {
      let context = (reader ?? stack.coordinator).newContext()
      return try context.performAndWait {
        var ids: Set<NSManagedObjectID> = []
        for entity in ["Owner", "Item"] { ids.formUnion(try context.all(entity).map(\.objectID)) }
        var found: [String] = []
        for (entity, keys) in [("Item", Self._toOnes.filter { $0 != "leaver" }), ("Part", ["item"])] {
          for object in try context.all(entity) {
            for key in keys {
              for target in object.objectIDs(forRelationshipNamed: key) where !ids.contains(target) {
                found.append("\(object.objectID).\(key)")
              }
            }
          }
        }
        return found
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `no link dangles unless its rule is no action`(_ setting: Setting) throws {
    let length = 25
    for first in stride(from: 0, to: Self._cases, by: length) {
      let test = try Case(setting)
      for seed in first..<min(first + length, Self._cases) {
        var random = SeededRandom(seed: UInt64(seed))
        try test.run(&random)
        let dangling = try test.dangling()
        if !dangling.isEmpty {
          Issue.record("seed \(seed): \(dangling)")
          return
        }
      }
    }
  }
}
