import CoreData
import CoreDataStoreTools
import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreDataStackShootout

/// Stores whose objects are imported through each design.
@Suite struct StoreInputTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  /// Imports a store by the floor and all designs, which must end equal, and returns what the floor's holds and the source.
  private func _imported(
    _ source: String, _ options: [String], keys: [String] = []
  ) throws -> (source: StoreDigest, floor: StoreDigest, outcome: ToolProcess.Outcome) {
    let stores = _scratch.file(UUID().uuidString)
    let outcome = try ToolProcess.run(
      ["shootout", "--from", source, "--runs", "1", "--stores", stores] + options
        + keys.flatMap { ["--key", $0] })
    #expect(outcome.code == 0, "\(outcome.error)")
    return (
      try _digest(source, model: source, keys), try _digest(stores + "/floor.sqlite", model: source, keys),
      outcome
    )
  }

  private func _digest(_ path: String, model: String, _ keys: [String]) throws -> StoreDigest {
    let input = try StoreInput(path, model: model, .process)
    let reader = try input.reader()
    defer { reader.close() }
    let entity = try #require(reader.layout.layouts.first?.entityName)
    let plan = try RecordPlan(input.model.schema, entity: entity, keys: keys, spansEntities: true)
    return try StoreDigest(path: path, plan: plan, anatomy: reader.anatomy)
  }

  /// A store of orders with links of all kinds, at both ends in another order.
  private func _shop() throws -> String {
    let path = _scratch.file("Shop.sqlite")
    try RecordShop.makeStore(at: path)
    let data = _scratch.file("orders.ndjson")
    try Data(RecordShop.lines.utf8).write(to: URL(fileURLWithPath: data))
    let stores = _scratch.file("filled")
    let outcome = try ToolProcess.run([
      "shootout", "--model", path, "--data", data, "--entity", "Order", "--key", "number", "--key",
      "Tag.word",
      "--runs", "1", "--stacks", "shared", "--stores", stores,
    ])
    #expect(outcome.code == 0, "\(outcome.error)")
    return stores + "/shared.sqlite"
  }

  @Test(arguments: ImportMode.allCases, [1, 100])
  func `every design makes the store that its objects come from`(_ mode: ImportMode, _ saveEvery: Int) throws
  {
    let shop = try _shop()
    for keys in [[], ["Order.number", "Tag.word"]] {
      let made = try _imported(
        shop, ["--mode", mode.rawValue, "--save-every", "\(saveEvery)", "--live-list"], keys: keys)
      #expect(made.floor.differences(from: made.source) == [])
    }
  }

  /// A store of places, each in another, linked to each other in ways that ask for an order.
  private func _places(_ fill: (NSManagedObjectContext) throws -> Void) throws -> String {
    func end(_ name: String, many: Bool, optional: Bool) -> NSRelationshipDescription {
      let end = NSRelationshipDescription()
      (end.name, end.maxCount, end.isOptional) = (name, many ? 0 : 1, optional)
      return end
    }
    let entity = NSEntityDescription()
    entity.name = "Place"
    let name = NSAttributeDescription()
    (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, false)
    let (parent, children) = (
      end("parent", many: false, optional: false), end("children", many: true, optional: true)
    )
    let (twin, twinOf) = (
      end("twin", many: false, optional: true), end("twinOf", many: false, optional: true)
    )
    let (near, nearBy) = (end("near", many: true, optional: true), end("nearBy", many: true, optional: true))
    let alone = end("best", many: false, optional: true)
    nearBy.isOrdered = true
    for (one, other) in [(parent, children), (twin, twinOf), (near, nearBy)] {
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
    }
    for end in [parent, children, twin, twinOf, near, nearBy, alone] { end.destinationEntity = entity }
    entity.properties = [name, parent, children, twin, twinOf, near, nearBy, alone]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let path = _scratch.file("Places.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      try fill(context)
      try context.save()
    }
    try coordinator.remove(store)
    return path
  }

  private func _place(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: context)
    place.setValue(name, forKey: "name")
    return place
  }

  @Test(arguments: [1, 2, 50])
  func `an object follows those that it must have, whichever came first`(_ saveEvery: Int) throws {
    let places = try _places { context in
      // The last is in the one before, and so on; the first is in itself.
      let all = (0..<12).map { _place("p\($0)", context) }
      for (index, place) in all.enumerated() {
        place.setValue(all[min(index + 1, 11)], forKey: "parent")
        place.setValue(all[(index + 5) % 12], forKey: "best")
        if index % 3 == 0 { place.setValue(all[(index + 4) % 12], forKey: "twin") }
        place.setValue(Set([all[(index + 1) % 12], all[(index + 7) % 12]]), forKey: "near")
      }
      all[3].setValue(NSOrderedSet(array: [all[9], all[2], all[8], all[3]]), forKey: "nearBy")
    }
    let made = try _imported(places, ["--save-every", "\(saveEvery)", "--mode", "insert"])
    #expect(made.floor.differences(from: made.source) == [])
    let keyed = try _imported(places, ["--save-every", "\(saveEvery)"], keys: ["Place.name"])
    #expect(keyed.floor.differences(from: keyed.source) == [])
  }

  @Test func `a chain of a thousand objects that must have the next is no deeper than one`() throws {
    let places = try _places { context in
      let all = (0..<1000).map { _place("p\($0)", context) }
      for (index, place) in all.enumerated() { place.setValue(all[min(index + 1, 999)], forKey: "parent") }
    }
    let made = try _imported(places, ["--stacks", "shared", "--mode", "insert"])
    #expect(made.floor.differences(from: made.source) == [])
  }

  @Test func `what is mandatory and empty is told, and may be`() throws {
    let places = try _places { context in
      let one = _place("one", context)
      one.setValue(one, forKey: "parent")
    }
    _ = try PlainSQLite(path: places).rows("UPDATE ZPLACE SET ZPARENT = NULL, ZNAME = NULL")
    let made = try _imported(places, ["--stacks", "nested3"])
    #expect(made.floor.differences(from: made.source) == [])
    #expect(made.outcome.error.contains("Place.name is mandatory and empty in 1 object: it may be here"))
    #expect(made.outcome.error.contains("Place.parent is mandatory and empty in 1 object"))
    #expect(made.outcome.error.contains("no attribute is unique in the model"))
  }

  @Test func `objects with one key become one, which is told`() throws {
    let places = try _places { context in
      for _ in 0..<3 {
        let one = _place("same", context)
        one.setValue(one, forKey: "parent")
      }
    }
    let made = try _imported(places, [], keys: ["name"])
    #expect(made.outcome.error.contains("2 objects have the key of another, and become one with it"))
    #expect(made.floor.parts["Place"]?.count == 1)
  }

  @Test func `the largest entity is listed unless another is named`() throws {
    let shop = try _shop()
    let outcome = try ToolProcess.run(
      ["shootout", "--from", shop, "--runs", "1", "--stacks", "main", "--format", "json", "--entity", "Tag"])
    #expect(outcome.output.contains("\"entity\": \"Tag\""), "\(outcome.error)")
    let other = try ToolProcess.run(["shootout", "--from", shop, "--runs", "1", "--stacks", "main"])
    #expect(other.output.contains("20 records of shared.sqlite"), "\(other.output)")
  }

  @Test func `the store is only read`() throws {
    let shop = try _shop()
    let before = try Data(contentsOf: URL(fileURLWithPath: shop))
    _ = try _imported(shop, ["--stacks", "main"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: shop)) == before)
  }

  // MARK: Apple's stores

  private static let _stores = [
    "apple-recipes-2018/Recipes.sqlite", "coredataplus/SampleModel2_V1.sqlite",
    "coredataplus/SampleModel_V1.sqlite",
    "duckduckgo/Bookmarks_V1.sqlite", "duckduckgo/Bookmarks_V5.sqlite",
    "plaso/ios-RMAdminStore-Local.sqlite", "plaso/ios-netusage.sqlite",
  ]

  @Test(.enabled(if: SharedCorpus.root != nil, "needs ../shared/corpus"), arguments: _stores)
  func `a store that Apple's Core Data has made is imported as it is`(_ name: String) throws {
    let root = try #require(SharedCorpus.root)
    let made = try _imported(
      root.appendingPathComponent("stores/" + name).path, ["--mode", "insert", "--save-every", "100"])
    #expect(made.floor.differences(from: made.source) == [])
  }

  // MARK: What cannot be meant

  @Test func `a store without objects is answered with what would make some`() throws {
    let path = _scratch.file("Empty.sqlite")
    try RecordShop.makeStore(at: path)
    let outcome = try ToolProcess.run(["shootout", "--from", path])
    #expect(outcome.code == 65 && outcome.error.contains("has no object. '--model"), "\(outcome.error)")
  }

  @Test(arguments: [
    (["--data", "x"], "'--from' and '--data' cannot be given together"),
    (["--make", "A=1"], "'--from' and '--make' cannot be given together"),
    (["--stops", "x"], "'--from' and '--stops' cannot be given together"),
  ])
  func `options that contradict a store are named`(_ words: [String], _ message: String) throws {
    let outcome = try ToolProcess.run(["shootout", "--from", "Shop.sqlite"] + words)
    #expect(outcome.code == 64 && outcome.error.contains(message), "\(outcome.error)")
  }

  @Test func `a file that is no store is answered`() throws {
    let outcome = try ToolProcess.run(["shootout", "--from", "/no/such.sqlite"])
    #expect(outcome.code == 66, "\(outcome.error)")
  }
}
