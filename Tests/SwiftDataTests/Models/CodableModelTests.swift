import Foundation
import SwiftData
import Testing

@Model private final class Pier: Codable {
  var name: String
  @Relationship(inverse: \Boat.pier) var boats: [Boat] = []

  init(name: String) { self.name = name }

  required init(from decoder: any Decoder) throws {
    name = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }
}

@Model private final class Boat {
  var name: String
  var pier: Pier
  var spare: Pier?

  init(name: String, pier: Pier, spare: Pier? = nil) {
    self.name = name
    self.pier = pier
    self.spare = spare
  }
}

/// Model classes that can be coded as well: properties of their type are relationships, not values.
@Suite struct CodableModelTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(
      for: Pier.self, Boat.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func _stored() throws -> [String] {
    let context = ModelContext(_container)
    return try withExtendedLifetime(context) {
      try context.fetch(FetchDescriptor<Boat>()).map { "\($0.name) \($0.pier.name) \($0.spare?.name ?? "-")" }
    }
  }

  @Test func `a link to such a model is set at first, moved and taken away`() throws {
    let context = ModelContext(_container)
    let (one, two) = (Pier(name: "one"), Pier(name: "two"))
    let boat = Boat(name: "Ada", pier: one, spare: two)
    context.insert(boat)
    try context.save()
    #expect(try _stored() == ["Ada one two"])
    boat.pier = two
    boat.spare = nil
    #expect(one.boats.isEmpty && two.boats == [boat] && boat.pier === two && boat.spare == nil)
    try context.save()
    #expect(try _stored() == ["Ada two -"])
    boat.spare = one
    try context.save()
    #expect(try _stored() == ["Ada two one"])
    #expect(try ModelContext(_container).fetchCount(FetchDescriptor<Pier>()) == 2)
  }

  @Test func `such a model is coded as it says`() throws {
    let pier = try JSONDecoder().decode(Pier.self, from: JSONEncoder().encode(Pier(name: "one")))
    #expect(pier.name == "one")
  }
}
