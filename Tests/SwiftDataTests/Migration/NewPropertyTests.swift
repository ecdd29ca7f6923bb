import CoreData
import CoreDataPostgreSQL
import PostgreSQLServer
import SwiftData
import TestSupport
import Testing

private enum CardsV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Card.self] }

  @Model final class Card {
    var text: String
    var mood: CardMood?
    var place: CardPlace?
    var words: [String]?
    init(text: String) { self.text = text }
  }
}

private enum CardsV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Card.self] }

  /// A new property of each kind; the former optional ones are required.
  @Model final class Card {
    var text: String
    var mood: CardMood = CardMood.glad
    var place: CardPlace = CardPlace(x: 7, y: 8)
    var words: [String] = ["none"]

    var number: Int = 5
    var price: Decimal = 1.5
    var code: UUID = UUID(uuidString: "00000000-0000-0000-0000-000000000017")!
    var link: URL = URL(string: "https://example.org/")!
    var empty: [String] = []
    var list: [Int] = [1, 2]
    var table: [String: Int] = ["a": 1]
    var set: Set<String> = ["s"]
    var places: [CardPlace] = [CardPlace(x: 1, y: 2)]
    var level: CardLevel = CardLevel.high
    var kind: CardMood = CardMood.glad
    var payload: CardPayload = CardPayload.given("p")
    var spot: CardPlace = CardPlace(x: 1, y: 2, note: nil)
    var nest: CardNest = CardNest(place: CardPlace(x: 3, y: 4, note: "n"), marks: ["m"], level: .high)
    var likely: CardPlace? = CardPlace(x: 5, y: 6)
    var unlikely: CardPlace?
    @Attribute(.codable) var whole: CardPlace = CardPlace(x: 9, y: 9)
    @Attribute(.transformable(by: "CardColor")) var color: CardColor = CardColor(3)
    @Attribute(.externalStorage) var image: Data = Data([1, 2])
    @Attribute(.ephemeral) var fleeting: [Int] = [4]
    init(text: String) { self.text = text }
  }
}

private enum CardsPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [CardsV1.self, CardsV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: CardsV1.self, toVersion: CardsV2.self)] }
}

private enum CardMood: Codable { case sad, glad }
private enum CardLevel: Int, Codable { case low, high }
private enum CardPayload: Codable, Equatable { case none, given(String) }

private struct CardPlace: Codable, Equatable {
  var x: Int
  var y: Int
  var note: String? = "hi"
}

private struct CardNest: Codable, Equatable {
  var place: CardPlace
  var marks: [String]
  var level: CardLevel
}

private final class CardColor: NSObject, @unchecked Sendable {
  // Unchecked: immutable.
  let number: UInt8
  init(_ number: UInt8) { self.number = number }
}

private final class CardColorTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? CardColor).map { Data([$0.number]) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data)?.first.map { CardColor($0) }
  }
}

/// Properties that a store doesn't have yet.
struct NewPropertyTests {
  private let _place: URL

  init() throws {
    ValueTransformer.setValueTransformer(CardColorTransformer(), forName: NSValueTransformerName("CardColor"))
    _place = try TemporaryPlace.makeDirectory().appendingPathComponent("cards.store")
    try _fill(_place)
  }

  private func _fill(_ place: URL) throws {
    let context = try _open(CardsV1.self, at: place)
    let card = CardsV1.Card(text: "one")
    context.insert(card)
    let full = CardsV1.Card(text: "two")
    (full.mood, full.place, full.words) = (.sad, CardPlace(x: 0, y: 0, note: nil), [])
    context.insert(full)
    try context.save()
  }

  private func _open(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil, at place: URL? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version), migrationPlan: plan,
        configurations: ModelConfiguration(url: place ?? _place)))
  }

  private func _card(_ text: String, _ context: ModelContext) throws -> CardsV2.Card {
    try #require(
      context.fetch(FetchDescriptor<CardsV2.Card>(predicate: #Predicate { $0.text == text })).first)
  }

  private func _expectDeclared(_ card: CardsV2.Card) {
    #expect(card.number == 5 && card.price == 1.5 && card.code.uuidString.hasSuffix("17"))
    #expect(card.link.host == "example.org" && card.image == Data([1, 2]))
    #expect(card.empty == [] && card.list == [1, 2] && card.table == ["a": 1] && card.set == ["s"])
    #expect(card.places == [CardPlace(x: 1, y: 2)])
    #expect(card.level == .high && card.kind == .glad && card.payload == .given("p"))
    #expect(card.spot == CardPlace(x: 1, y: 2, note: nil))
    #expect(
      card.nest == CardNest(place: CardPlace(x: 3, y: 4, note: "n"), marks: ["m"], level: .high))
    #expect(card.unlikely == nil && card.whole == CardPlace(x: 9, y: 9))
    #expect(card.color.number == 3 && card.fleeting == [4])
  }

  @Test(arguments: [false, true])
  func `old rows read as declared, with a plan and without`(_ withPlan: Bool) throws {
    let context = try _open(CardsV2.self, withPlan ? CardsPlan.self : nil)
    for text in ["one", "two"] {
      let card = try _card(text, context)
      _expectDeclared(card)
      #expect(card.likely == CardPlace(x: 5, y: 6))
    }
  }

  @Test func `a property made required reads as declared where it was nil`() throws {
    let context = try _open(CardsV2.self)
    let (card, full) = (try _card("one", context), try _card("two", context))
    #expect(card.mood == .glad && card.place == CardPlace(x: 7, y: 8) && card.words == ["none"])
    #expect(full.mood == .sad && full.place == CardPlace(x: 0, y: 0, note: nil) && full.words == [])
  }

  @Test(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
  func `old rows of a server read as declared`() throws {
    let place = try #require(PostgreSQLServer.shared).newURL()
    try _fill(place)
    let context = try _open(CardsV2.self, at: place)
    let (card, full) = (try _card("one", context), try _card("two", context))
    for card in [card, full] {
      _expectDeclared(card)
      #expect(card.likely == CardPlace(x: 5, y: 6))
    }
    #expect(card.mood == .glad && card.place == CardPlace(x: 7, y: 8) && card.words == ["none"])
    #expect(full.mood == .sad && full.place == CardPlace(x: 0, y: 0, note: nil) && full.words == [])
  }

  @Test func `predicates and orders see the declared values`() throws {
    let context = try _open(CardsV2.self)
    #expect(
      try context.fetchCount(FetchDescriptor<CardsV2.Card>(predicate: #Predicate { $0.spot.x == 1 })) == 2)
    #expect(
      try context.fetchCount(FetchDescriptor<CardsV2.Card>(predicate: #Predicate { $0.place.y == 8 })) == 1)
    let sorted = try context.fetch(
      FetchDescriptor<CardsV2.Card>(sortBy: [SortDescriptor(\.place.x, order: .reverse)]))
    #expect(sorted.map(\.text) == ["one", "two"])
  }

  @Test func `an old row is saved with what it reads`() throws {
    let context = try _open(CardsV2.self)
    try _card("one", context).text = "three"
    try context.save()
    let card = try _card("three", _open(CardsV2.self))
    _expectDeclared(card)
  }

  /// Rows as a program leaves them that adds columns without values, which Apple's does.
  @Test func `rows without values read as declared, and can be saved`() throws {
    _ = try _open(CardsV2.self)
    let columns = try Set(_sqlite("SELECT name FROM pragma_table_info('ZCARD')")).subtracting([
      "Z_PK", "Z_ENT", "Z_OPT", "ZTEXT",
    ])
    _ = try _sqlite("UPDATE ZCARD SET \(columns.sorted().map { "\($0) = NULL" }.joined(separator: ", "))")
    let context = try _open(CardsV2.self)
    let card = try _card("one", context)
    _expectDeclared(card)
    #expect(card.mood == .glad && card.place == CardPlace(x: 7, y: 8) && card.words == ["none"])
    #expect(card.likely == nil)
    card.text = "three"
    try context.save()
    let again = try _card("three", _open(CardsV2.self))
    _expectDeclared(again)
    #expect(try _sqlite("SELECT ZNUMBER FROM ZCARD WHERE ZTEXT = 'three'") == ["5"])
  }

  @Test func `the model in the store has no default but basic values`() throws {
    let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [CardsV2.Card.self]))
    let attributes = try #require(model.entitiesByName["Card"]).attributesByName
    #expect(
      attributes.filter { $0.value.defaultValue != nil }.keys.sorted() == [
        "code", "image", "link", "number", "price",
      ])
  }

  private func _sqlite(_ sql: String) throws -> [String] { try SQLiteShell.rows(sql, in: _place) }
}
