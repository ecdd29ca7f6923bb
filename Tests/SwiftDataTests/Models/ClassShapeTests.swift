import SwiftData
import Testing

@Model final class Country: Codable {
  var name: String
  var capital: Town?
  var towns: [Town] = []

  init(name: String) { self.name = name }

  init(from decoder: any Decoder) throws {
    name = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}

@Model final class Town: Codable, Comparable {
  var id: String
  @Relationship(inverse: \Country.towns) var country: Country?
  private(set) var visits = 0
  let founded: Int

  init(id: String, founded: Int) {
    self.id = id
    self.founded = founded
  }

  init(from decoder: any Decoder) throws {
    id = try decoder.singleValueContainer().decode(String.self)
    founded = 0
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(id)
  }

  func visit() { visits += 1 }

  static func < (left: Town, right: Town) -> Bool { left.id < right.id }
}

/// Relates itself in its initializer, as models do that join the context of what they are related to.
@Model final class Hamlet {
  let founded: Int
  var country: Country

  init(founded: Int, in country: Country) {
    self.founded = founded
    self.country = country
  }
}

@Model final class AllDefaults {
  var number = 1
  var text = "x"
}

/// Model classes in the shapes that programs use.
struct ClassShapeTests {
  @Test func `a Codable class is a relationship all the same`() throws {
    let context = ModelContext(
      try ModelContainer(for: Country.self, configurations: .init(isStoredInMemoryOnly: true)))
    let country = Country(name: "C")
    let town = Town(id: "T", founded: 1200)
    country.towns = [town]
    country.capital = town
    town.visit()
    context.insert(country)
    try context.save()
    let other = ModelContext(context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Country>()).first)
    #expect(stored.capital?.id == "T" && stored.towns.map(\.visits) == [1])
    #expect(stored.capital?.founded == 1200)
    #expect(stored.capital?.persistentModelID.entityName == "Town")
  }

  @Test func `a model that its initializer relates waits for insert if it has constants`() throws {
    let context = ModelContext(
      try ModelContainer(
        for: Country.self, Hamlet.self, configurations: .init(isStoredInMemoryOnly: true)))
    let country = Country(name: "C")
    context.insert(country)
    let hamlets = (0..<3).map { Hamlet(founded: 1200 + $0, in: country) }
    // The context knows their values, and not the instances, which alone have the constants.
    #expect(try context.fetchCount(FetchDescriptor<Hamlet>()) == 0)
    try context.save()
    for hamlet in hamlets { context.insert(hamlet) }
    try context.save()
    let other = ModelContext(context.container)
    let stored = try other.fetch(FetchDescriptor<Hamlet>())
    #expect(Set(stored.map(\.founded)) == [1200, 1201, 1202])
    #expect(stored.allSatisfy { $0.country.name == "C" })
  }

  @Test func `a class of defaults needs no initialiser`() throws {
    let context = ModelContext(
      try ModelContainer(for: AllDefaults.self, configurations: .init(isStoredInMemoryOnly: true)))
    context.insert(AllDefaults())
    try context.save()
    #expect(try context.stored(AllDefaults.self).map(\.text) == ["x"])
  }
}
