import SwiftData
import Testing

@Model private final class Harbor {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Ship.home) var ships: [Ship] = []
  init(name: String) { self.name = name }
}

@Model private final class Ship {
  var name: String
  var home: Harbor
  var refuge: Harbor?
  init(name: String, home: Harbor) {
    self.name = name
    self.home = home
  }
}

/// Links of a required and an optional to-one, set in memory, stored, moved and taken away.
@Suite struct RequiredLinkTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(
      for: Harbor.self, Ship.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func _stored() throws -> [String: String] {
    let context = ModelContext(_container)
    return try withExtendedLifetime(context) {
      var homes: [String: String] = [:]
      for ship in try context.fetch(FetchDescriptor<Ship>()) {
        homes[ship.name] = "\(ship.home.name) \(ship.refuge?.name ?? "-")"
      }
      for harbor in try context.fetch(FetchDescriptor<Harbor>()) {
        homes[harbor.name] = harbor.ships.map(\.name).sorted().joined(separator: ",")
      }
      return homes
    }
  }

  @Test func `a required to-one is moved to another model`() throws {
    let context = ModelContext(_container)
    let (hull, cork) = (Harbor(name: "Hull"), Harbor(name: "Cork"))
    let ship = Ship(name: "Ada", home: hull)
    context.insert(ship)
    context.insert(cork)
    try context.save()
    #expect(try _stored() == ["Ada": "Hull -", "Hull": "Ada", "Cork": ""])
    ship.home = cork
    #expect(hull.ships.isEmpty && cork.ships == [ship])
    try context.save()
    #expect(try _stored() == ["Ada": "Cork -", "Hull": "", "Cork": "Ada"])
  }

  @Test func `a model assigned to a required to-one is inserted with its owner`() throws {
    let context = ModelContext(_container)
    let ship = Ship(name: "Ada", home: Harbor(name: "Hull"))
    context.insert(ship)
    try context.save()
    ship.home = Harbor(name: "New")
    try context.save()
    #expect(try _stored() == ["Ada": "New -", "Hull": "", "New": "Ada"])
  }

  @Test func `an optional to-one is set and taken away`() throws {
    let context = ModelContext(_container)
    let hull = Harbor(name: "Hull")
    let ship = Ship(name: "Ada", home: hull)
    context.insert(ship)
    ship.refuge = hull
    try context.save()
    #expect(try _stored()["Ada"] == "Hull Hull")
    ship.refuge = nil
    try context.save()
    #expect(try _stored()["Ada"] == "Hull -")
  }

  @Test func `a rolled-back move leaves both ends as they were`() throws {
    let context = ModelContext(_container)
    context.autosaveEnabled = false
    let (hull, cork) = (Harbor(name: "Hull"), Harbor(name: "Cork"))
    let ship = Ship(name: "Ada", home: hull)
    context.insert(ship)
    context.insert(cork)
    try context.save()
    ship.home = cork
    context.rollback()
    #expect(ship.home === hull)
    #expect(hull.ships == [ship] && cork.ships.isEmpty)
  }
}
