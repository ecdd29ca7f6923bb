import SwiftData
import Testing

/// Predicates that compare models with captured ones, whose classes aren't Codable.
struct CapturedModelTests {
  private let _context: ModelContext
  private let _shelves = [Shelf(code: "A"), Shelf(code: "B")]
  private let _topic = Topic(name: "x")

  init() throws {
    _context = try ModelContext.ofShelves()
    for (index, title) in ["One", "Two", "Three"].enumerated() {
      let volume = Volume(title: title)
      _context.insert(volume)
      if index < 2 { volume.shelf = _shelves[index] }
      if index > 0 { volume.topics = [_topic] }
    }
    try _context.save()
  }

  private func _titles(_ predicate: Predicate<Volume>) throws -> [String] {
    try _context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
  }

  @Test func `equal to a captured model`() throws {
    let shelf = _shelves[0]
    #expect(try _titles(#Predicate { $0.shelf == shelf }) == ["One"])
    #expect(try _titles(#Predicate { shelf == $0.shelf }) == ["One"])
    // As of identities, nil is not unequal in a store.
    #expect(try _titles(#Predicate { $0.shelf != shelf }) == ["Two"])
  }

  @Test func `equal to a captured optional model`() throws {
    let (shelf, none): (Shelf?, Shelf?) = (_shelves[1], nil)
    #expect(try _titles(#Predicate { $0.shelf == shelf }) == ["Two"])
    #expect(try _titles(#Predicate { $0.shelf == none }) == ["Three"])
  }

  @Test func `a member of a relationship, and one of several`() throws {
    let (topic, shelves, set) = (_topic, _shelves, Set(_shelves))
    #expect(try _titles(#Predicate { $0.topics.contains(topic) }) == ["Three", "Two"])
    #expect(try _titles(#Predicate { $0.shelf.flatMap { shelves.contains($0) } ?? false }) == ["One", "Two"])
    #expect(try _titles(#Predicate { $0.shelf.flatMap { set.contains($0) } ?? false }) == ["One", "Two"])
  }

  @Test func `the model itself`() throws {
    let volume = try #require(_shelves[0].volumes.first)
    #expect(try _titles(#Predicate { $0 == volume }) == ["One"])
  }

  @Test func `a captured model that is not saved, or not inserted`() throws {
    let (new, loose) = (Shelf(code: "C"), Shelf(code: "D"))
    let volume = Volume(title: "Four")
    _context.insert(volume)
    volume.shelf = new
    #expect(try _titles(#Predicate { $0.shelf == new }) == ["Four"])
    #expect(try _titles(#Predicate { $0.shelf == loose }) == [])
  }

  @Test func `two predicates of one shape have each their model`() throws {
    func titles(on shelf: Shelf) throws -> [String] { try _titles(#Predicate { $0.shelf == shelf }) }
    #expect(try titles(on: _shelves[0]) == ["One"] && titles(on: _shelves[1]) == ["Two"])
  }

  @Test func `a predicate with a captured model is evaluated in memory`() throws {
    let shelf = _shelves[0]
    let predicate = #Predicate<Volume> { $0.shelf == shelf }
    let volumes = try _context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(try volumes.filter(predicate.evaluate).map(\.title) == ["One"])
  }

  @Test func `an expression with a captured model is evaluated in memory`() throws {
    let shelf = _shelves[0]
    let isThere = #Expression<Volume, Bool> { $0.shelf == shelf }
    let volumes = try _context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(try volumes.map(isThere.evaluate) == [true, false, false])
  }

  @Test func `a predicate with a captured model can't be encoded`() {
    let shelf = _shelves[0]
    let predicate = #Predicate<Volume> { $0.shelf == shelf }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(predicate.expression) }
  }

  @Test func `a predicate with a captured model can't be decoded, and the error says what can`() {
    let shelf = _shelves[0]
    let predicate = #Predicate<Volume> { $0.shelf == shelf }
    func decode<Part: Decodable>(_ part: Part) throws {
      _ = try JSONDecoder().decode(Part.self, from: Data("{}".utf8))
    }
    func parts(_ value: Any, _ depth: Int = 0) -> [any Decodable] {
      let own = "\(type(of: value))".contains("_Uncodable") ? [value as? any Decodable].compactMap { $0 } : []
      return own
        + (depth > 6 ? [] : Mirror(reflecting: value).children.flatMap { parts($0.value, depth + 1) })
    }
    let uncodable = parts(predicate.expression)
    #expect(!uncodable.isEmpty)
    for part in uncodable {
      #expect {
        try decode(part)
      } throws: {
        "\($0)".contains("capture their persistentModelID")
      }
    }
  }
}
