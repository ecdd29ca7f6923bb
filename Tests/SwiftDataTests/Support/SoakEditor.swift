import SwiftData
import TestSupport

/// Shelves and volumes as plain values.
struct SoakPicture: Equatable {
  struct Book: Equatable {
    var pages = 0
    var tags: [String] = []
    var shelf: String?
    var topics: Set<String> = []
  }

  /// Rooms by code.
  var shelves: [String: String] = [:]
  /// By title.
  var volumes: [String: Book] = [:]

  init() {}

  /// Reads the state that a context shows.
  init(of context: ModelContext) throws {
    for shelf in try context.fetch(FetchDescriptor<Shelf>()) { shelves[shelf.code] = shelf.room }
    for volume in try context.fetch(FetchDescriptor<Volume>()) {
      volumes[volume.title] = Book(
        pages: volume.pages, tags: volume.tags, shelf: volume.shelf?.code,
        topics: Set(volume.topics.map(\.name)))
    }
  }
}

/// Edits through three contexts, and tracks the expected result.
struct SoakEditor {
  /// An unsaved change, as a function that applies it to a picture; does nothing for deleted models.
  private typealias Change = @Sendable (inout SoakPicture) -> Void

  var dice: SeededRandom
  /// The saved state.
  var expected = SoakPicture()
  private let _contexts: [ModelContext]
  private var _pending: [[Change]] = [[], [], []]
  /// Unsaved moves by title. Only one context at a time moves a volume, and only to another place: when
  /// several choose the same place, or a volume returns to its old one, whether that is a change depends on
  /// timing.
  private var _moves: [[String: String?]] = [[:], [:], [:]]

  init(_ container: ModelContainer, seed: UInt64) {
    _contexts = (0..<3).map { _ in ModelContext(container) }
    dice = SeededRandom(seed: seed)
  }

  /// One random edit of one context.
  mutating func edit(_ step: Int) throws {
    let number = Int(dice.next() % 3)
    let context = _contexts[number]
    let shelves = try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)]))
    let volumes = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    let (shelf, volume) = (shelves.randomElement(using: &dice), volumes.randomElement(using: &dice))
    switch dice.next() % 13 {
    case 0:
      context.insert(Shelf(code: "s\(step)"))
      _note(number) { $0.shelves["s\(step)"] = "" }
    case 1, 2:
      context.insert(Volume(title: "v\(step)", pages: step))
      _note(number) { $0.volumes["v\(step)"] = .init(pages: step) }
    case 3:
      guard let shelf else { break }
      shelf.room = "r\(step)"
      _note(number) { [code = shelf.code] in $0.shelves[code] = "r\(step)" }
    case 4:
      guard let volume else { break }
      volume.pages = step
      _note(number, volume) { $0.pages = step }
    case 5:
      guard let volume else { break }
      volume.tags.append("t\(step)")
      _note(number, volume) { [tags = volume.tags] in $0.tags = tags }
    case 6, 7:
      guard let shelf, let volume, _canMove(volume, to: shelf.code) else { break }
      volume.shelf = shelf
      _moves[number].updateValue(shelf.code, forKey: volume.title)
    case 8:
      guard let volume, _canMove(volume, to: nil) else { break }
      volume.shelf = nil
      _moves[number].updateValue(nil, forKey: volume.title)
    case 9:
      guard let volume else { break }
      volume.topics.append(Topic(name: "t\(step)"))
      _note(number, volume) { $0.topics.insert("t\(step)") }
    case 10:
      context.rollback()
      (_pending[number], _moves[number]) = ([], [:])
    case 11:
      guard volumes.count > 40, let volume else { break }
      // Changes to objects that another context deletes are out of scope here.
      try saveAll()
      let title = volume.title
      context.delete(volume)
      try context.save()
      expected.volumes[title] = nil
    default: try _save(number)
    }
  }

  private mutating func _note(_ number: Int, _ change: @escaping Change) { _pending[number].append(change) }

  private mutating func _note(
    _ number: Int, _ volume: Volume, _ change: @escaping @Sendable (inout SoakPicture.Book) -> Void
  ) {
    let title = volume.title
    _note(number) { if $0.volumes[title] != nil { change(&$0.volumes[title]!) } }
  }

  private mutating func _save(_ number: Int) throws {
    try _contexts[number].save()
    expected = _shown(number)
    (_pending[number], _moves[number]) = ([], [:])
  }

  private func _canMove(_ volume: Volume, to shelf: String?) -> Bool {
    let title = volume.title
    return _moves.allSatisfy { $0[title] == nil } && expected.volumes[title]?.shelf != shelf
  }

  /// Returns the state that a context must show.
  private func _shown(_ number: Int) -> SoakPicture {
    var wanted = expected
    for change in _pending[number] { change(&wanted) }
    for (title, shelf) in _moves[number] where wanted.volumes[title] != nil {
      wanted.volumes[title]!.shelf = shelf
    }
    return wanted
  }

  /// Saves all contexts.
  mutating func saveAll() throws { for number in _contexts.indices { try _save(number) } }

  /// Returns the places where a context shows wrong values.
  func differences() throws -> [String] {
    var found: [String] = []
    for (number, context) in _contexts.enumerated() {
      let wanted = _shown(number)
      let shown = try SoakPicture(of: context)
      guard shown != wanted else { continue }
      for (title, book) in shown.volumes where wanted.volumes[title] != book {
        found.append(
          "context \(number): \(title) is \(book), not \(String(describing: wanted.volumes[title]))")
      }
      for title in wanted.volumes.keys where shown.volumes[title] == nil {
        found.append("context \(number): \(title) is missing")
      }
      if shown.shelves != wanted.shelves { found.append("context \(number): shelves differ") }
    }
    return found
  }
}
