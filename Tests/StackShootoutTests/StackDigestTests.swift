import CoreData
import Foundation
import Testing

@testable import CoreDataStackShootout

/// What tells the stores of two designs on a server apart: what a new stack reads of them.
@Suite struct StackDigestTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  /// The digest of a store with two orders, of which one has lines and tags, after a change.
  private func _digest(
    _ name: String, reversed: Bool = false, _ change: ([String: NSManagedObject]) -> Void = { _ in }
  ) throws -> StoreDigest {
    let path = _scratch.file(name + ".sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordShop.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    let context = coordinator.makeContext()
    try context.performAndWait {
      var objects: [String: NSManagedObject] = [:]
      func make(_ name: String, _ entity: String, _ values: [String: Any]) {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        objects[name] = object
      }
      let all: [(String, String, [String: Any])] = [
        ("first", "Order", ["number": 1, "note": "n", "scan": Data([1])]),
        ("second", "RushOrder", ["number": 2, "fee": 2.5, "placed": Date(timeIntervalSince1970: 0)]),
        ("ada", "Customer", ["code": "A"]), ("bob", "Customer", ["code": "B"]),
        ("pen", "Line", ["text": "pen"]), ("ink", "Line", ["text": "ink"]), ("tag", "Tag", ["word": "t"]),
        ("badge", "Badge", ["title": "gold"]), ("remark", "Remark", ["text": "r"]),
      ]
      for (name, entity, values) in reversed ? all.reversed() : all {
        make(name, entity, values)
        // Keys follow the order of the saves.
        try? context.save()
      }
      objects["first"]?.setValue(objects["ada"], forKey: "customer")
      objects["first"]?.setValue(NSOrderedSet(array: [objects["pen"]!, objects["ink"]!]), forKey: "lines")
      objects["first"]?.setValue(
        NSOrderedSet(array: [objects["ada"]!, objects["bob"]!]), forKey: "favorites")
      objects["first"]?.setValue(Set([objects["tag"]!]), forKey: "tags")
      objects["first"]?.setValue(Set([objects["remark"]!]), forKey: "remarks")
      objects["ada"]?.setValue(objects["badge"], forKey: "badge")
      try context.save()
      change(objects)
      try context.save()
    }
    let plan = try RecordPlan(modelPath: path, entity: "Order", keys: ["number"], spansEntities: true)
    return try StoreDigest(coordinator, plan: plan)
  }

  @Test func `stores with the same objects are equal, in whatever order they were made`() throws {
    let (one, other) = (try _digest("one"), try _digest("other", reversed: true))
    #expect(one == other && one.differences(from: other).isEmpty)
    #expect(one.parts["Order"]?.count == 1 && one.parts["RushOrder"]?.count == 1)
    #expect(one.parts["Order.tags"]?.count == 1 && one.parts["Order.lines"]?.count == 2)
  }

  /// A change, and the part of the digest that tells it.
  struct Change: Sendable, CustomTestStringConvertible {
    let part: String
    let apply: @Sendable ([String: NSManagedObject]) -> Void
    var testDescription: String { part }

    init(_ part: String, _ apply: @escaping @Sendable ([String: NSManagedObject]) -> Void) {
      (self.part, self.apply) = (part, apply)
    }
  }

  private static let _changes = [
    Change("Order") { $0["first"]?.setValue("m", forKey: "note") },
    Change("Order") { $0["first"]?.setValue(Data([2]), forKey: "scan") },
    Change("RushOrder") { $0["second"]?.setValue(2.25, forKey: "fee") },
    Change("RushOrder") { $0["second"]?.setValue(1e300, forKey: "fee") },
    Change("RushOrder") { $0["second"]?.setValue(nil, forKey: "placed") },
    Change("Order") { $0["first"]?.setValue($0["bob"], forKey: "customer") },
    Change("Order.lines") {
      $0["first"]?.setValue(NSOrderedSet(array: [$0["ink"]!, $0["pen"]!]), forKey: "lines")
    },
    Change("Order.favorites") {
      $0["first"]?.setValue(NSOrderedSet(array: [$0["bob"]!, $0["ada"]!]), forKey: "favorites")
    },
    Change("Order.tags") { $0["first"]?.setValue(Set<NSManagedObject>(), forKey: "tags") },
    Change("Order.remarks") { $0["first"]?.setValue(Set<NSManagedObject>(), forKey: "remarks") },
    Change("Customer") { $0["bob"]?.setValue($0["badge"], forKey: "badge") },
    Change("Tag") { $0["tag"]?.managedObjectContext?.delete($0["tag"]!) },
  ]

  @Test(arguments: _changes)
  func `a value, a link or an order that differs is told`(_ change: Change) throws {
    let differences = try _digest("changed", change.apply).differences(from: try _digest("same"))
    #expect(differences.contains(change.part), "\(differences)")
  }
}
