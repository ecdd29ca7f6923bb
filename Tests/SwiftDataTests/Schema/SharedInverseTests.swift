import SwiftData
import TestSupport
import Testing

@Model final class Backyard {
  var name: String
  @Relationship(inverse: \Plant.backyard) var leadingPlants: [Plant] = []
  @Relationship(inverse: \Plant.backyard) var trailingPlants: [Plant] = []
  @Relationship(deleteRule: .cascade, inverse: \Pond.backyard) var pond: Pond?
  @Relationship(inverse: \Pond.backyard) var favoritePond: Pond?

  init(name: String) { self.name = name }
}

@Model final class Plant {
  var name: String
  var backyard: Backyard?

  init(name: String) { self.name = name }
}

@Model final class Pond {
  var depth: Int
  var backyard: Backyard?
  /// The only one that a relationship without declared inverse could be paired with.
  var visited: Backyard?

  init(depth: Int) { self.depth = depth }
}

/// Two relationships whose declarations name the same inverse.
struct SharedInverseTests {
  private let _context: ModelContext
  private let _yard = Backyard(name: "yard")
  private let _plants = ["a", "b", "c", "d"].map { Plant(name: $0) }

  init() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("yard.store")
    _context = ModelContext(try ModelContainer(for: Backyard.self, configurations: .init(url: place)))
    _context.insert(_yard)
    for plant in _plants { _context.insert(plant) }
    _yard.leadingPlants = Array(_plants[..<2])
    _yard.trailingPlants = Array(_plants[2...])
  }

  private func _names(_ plants: [Plant]) -> [String] { plants.map(\.name).sorted() }

  /// The yard as another context of the container fetches it.
  private func _stored() throws -> Backyard {
    try #require(_context.stored(Backyard.self).first { $0.name == "yard" })
  }

  @Test func `the last one declared is paired`() throws {
    let yard = try #require(Schema([Backyard.self]).entitiesByName["Backyard"]).relationshipsByName
    #expect(yard["trailingPlants"]?.inverseName == "backyard" && yard["leadingPlants"]?.inverseName == nil)
    #expect(yard["favoritePond"]?.inverseName == "backyard" && yard["pond"]?.inverseName == nil)
    #expect(_plants.map(\.backyard) == [nil, nil, _yard, _yard])
  }

  @Test func `the other is not paired with what it doesn't name`() throws {
    let pond = try #require(Schema([Backyard.self]).entitiesByName["Pond"]).relationshipsByName
    #expect(pond["backyard"]?.inverseName == "favoritePond" && pond["visited"]?.inverseName == nil)
  }

  @Test func `both keep their members`() throws {
    try _context.save()
    for yard in [_yard, try _stored()] {
      #expect(_names(yard.leadingPlants) == ["a", "b"] && _names(yard.trailingPlants) == ["c", "d"])
    }
  }

  @Test func `the paired one follows the to-one, the other does not`() throws {
    try _context.save()
    _plants[0].backyard = _yard
    _plants[2].backyard = nil
    try _context.save()
    for yard in [_yard, try _stored()] {
      #expect(_names(yard.leadingPlants) == ["a", "b"] && _names(yard.trailingPlants) == ["a", "d"])
    }
  }

  @Test func `a deleted member leaves both`() throws {
    try _context.save()
    _context.delete(_plants[1])
    _context.delete(_plants[3])
    try _context.save()
    for yard in [_yard, try _stored()] {
      #expect(_names(yard.leadingPlants) == ["a"] && _names(yard.trailingPlants) == ["c"])
    }
  }

  @Test func `deleting the owner leaves the members`() throws {
    let other = Backyard(name: "other")
    _context.insert(other)
    try _context.save()
    _context.delete(_yard)
    try _context.save()
    #expect(_plants.map(\.backyard) == [nil, nil, nil, nil])
    let plants = try _context.stored(Plant.self)
    #expect(_names(plants) == ["a", "b", "c", "d"] && plants.allSatisfy { $0.backyard == nil })
    let left = try _context.stored(Backyard.self)
    #expect(left.map(\.name) == ["other"] && left.allSatisfy { $0.leadingPlants.isEmpty })
  }

  @Test func `delete rules apply to both`() throws {
    let (pond, favorite) = (Pond(depth: 1), Pond(depth: 2))
    _yard.pond = pond
    _yard.favoritePond = favorite
    try _context.save()
    #expect(pond.backyard == nil && favorite.backyard === _yard)
    #expect(try _stored().pond?.depth == 1 && _stored().favoritePond?.depth == 2)
    _context.delete(_yard)
    try _context.save()
    let ponds = try _context.stored(Pond.self)
    #expect(ponds.map(\.depth) == [2] && ponds.first?.backyard == nil)
  }

  @Test func `a deleted destination leaves both`() throws {
    let (pond, favorite) = (Pond(depth: 1), Pond(depth: 2))
    _yard.pond = pond
    _yard.favoritePond = favorite
    try _context.save()
    _context.delete(pond)
    _context.delete(favorite)
    try _context.save()
    for yard in [_yard, try _stored()] { #expect(yard.pond == nil && yard.favoritePond == nil) }
  }

  @Test func `a deletion that is rolled back changes neither`() throws {
    try _context.save()
    let context = ModelContext(_context.container)
    let yard = try #require(context.fetch(FetchDescriptor<Backyard>()).first)
    for _ in 0..<2 {
      for plant in try context.fetch(FetchDescriptor<Plant>()) { context.delete(plant) }
      #expect(try context.fetchCount(FetchDescriptor<Plant>()) == 0)
      #expect(yard.leadingPlants.isEmpty && yard.trailingPlants.isEmpty)
      context.rollback()
      #expect(_names(yard.leadingPlants) == ["a", "b"] && _names(yard.trailingPlants) == ["c", "d"])
    }
  }

  @Test func `members are moved, removed and added again`() throws {
    try _context.save()
    let other = Backyard(name: "other")
    _context.insert(other)
    other.leadingPlants = [_plants[0]]
    other.trailingPlants = [_plants[2]]
    _yard.leadingPlants.removeAll { $0 === _plants[1] }
    try _context.save()
    let stored = try _context.stored(Backyard.self)
    let (yard, moved) = (stored.first { $0.name == "yard" }, stored.first { $0.name == "other" })
    #expect(
      moved.map { _names($0.leadingPlants) } == ["a"] && moved.map { _names($0.trailingPlants) } == ["c"])
    #expect(yard.map { _names($0.leadingPlants) } == [] && yard.map { _names($0.trailingPlants) } == ["d"])
  }
}
