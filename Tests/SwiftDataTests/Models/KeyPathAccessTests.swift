import CoreData
import SwiftData
import Testing

/// Properties read and set by key path, of models and of their backing data, inserted or not.
@Suite struct KeyPathAccessTests {
  private static let _register: Void = ValueTransformer.setValueTransformer(
    PaintTransformer(), forName: NSValueTransformerName("Paint"))

  private let _context: ModelContext

  init() throws {
    Self._register
    _context = ModelContext(
      try ModelContainer(
        for: Wall.self, Room.self, Key.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
  }

  private func _wall(_ isInserted: Bool) -> Wall {
    let wall = Wall(room: Room(name: "hall"), key: Key(number: 1))
    if isInserted { _context.insert(wall) }
    return wall
  }

  @Test(arguments: [false, true]) func `an attribute`(_ isInserted: Bool) {
    let wall = _wall(isInserted)
    wall.setValue(forKey: \.width, to: 7)
    #expect(wall.width == 7)
    #expect(wall.getValue(forKey: \.width) == 7)
    wall.persistentBackingData.setValue(forKey: \.width, to: 8)
    #expect(wall.width == 8)
    #expect(wall.persistentBackingData.getValue(forKey: \.width) == 8)
    wall.setTransformableValue(forKey: \.paint, to: Paint(9))
    #expect(wall.paint == Paint(9))
    #expect(wall.getTransformableValue(forKey: \.paint) == Paint(9))
    wall.persistentBackingData.setTransformableValue(forKey: \.paint, to: Paint(10))
    #expect(wall.persistentBackingData.getTransformableValue(forKey: \.paint) == Paint(10))
  }

  @Test(arguments: [false, true]) func `a required model and an optional one`(_ isInserted: Bool) {
    let wall = _wall(isInserted)
    let (attic, cellar) = (Room(name: "attic"), Room(name: "cellar"))
    wall.setValue(forKey: \.room, to: attic)
    wall.setValue(forKey: \.next, to: cellar)
    #expect(wall.room === attic && wall.next === cellar)
    #expect(wall.getValue(forKey: \.room) === attic)
    #expect(wall.getValue(forKey: \.next) === cellar)
    wall.persistentBackingData.setValue(forKey: \.room, to: cellar)
    wall.persistentBackingData.setValue(forKey: \.next, to: attic)
    #expect(wall.persistentBackingData.getValue(forKey: \.room) === cellar)
    #expect(wall.persistentBackingData.getValue(forKey: \.next) === attic)
    wall.setValue(forKey: \.next, to: nil)
    #expect(wall.next == nil)
    #expect(wall.getValue(forKey: \.next) == nil)
  }

  @Test(arguments: [false, true]) func `a model whose class can be coded`(_ isInserted: Bool) {
    let wall = _wall(isInserted)
    let (two, three) = (Key(number: 2), Key(number: 3))
    wall.setValue(forKey: \.key, to: two)
    wall.setValue(forKey: \.spare, to: three)
    #expect(wall.key === two && wall.spare === three)
    #expect(wall.getValue(forKey: \.key) === two)
    #expect(wall.getValue(forKey: \.spare) === three)
    wall.persistentBackingData.setValue(forKey: \.key, to: three)
    wall.persistentBackingData.setValue(forKey: \.spare, to: two)
    #expect(wall.persistentBackingData.getValue(forKey: \.key) === three)
    #expect(wall.persistentBackingData.getValue(forKey: \.spare) === two)
  }

  @Test(arguments: [false, true]) func `the members of a to-many`(_ isInserted: Bool) {
    let wall = _wall(isInserted)
    let (one, two) = (Room(name: "one"), Room(name: "two"))
    wall.setValue(forKey: \.rooms, to: [one, two])
    #expect(Set(wall.rooms.map(\.name)) == ["one", "two"])
    #expect(wall.getValue(forKey: \.rooms).count == 2)
    wall.persistentBackingData.setValue(forKey: \.rooms, to: [one])
    #expect(wall.persistentBackingData.getValue(forKey: \.rooms).map(\.name) == ["one"])
    let (first, second) = (Key(number: 1), Key(number: 2))
    wall.setValue(forKey: \.keys, to: [first, second])
    #expect(Set(wall.getValue(forKey: \.keys).map(\.number)) == [1, 2])
    wall.persistentBackingData.setValue(forKey: \.keys, to: [second])
    #expect(wall.persistentBackingData.getValue(forKey: \.keys).map(\.number) == [2])
  }

  @Test func `backing data keeps what others attach to it`() {
    let wall = _wall(false)
    var data = wall.persistentBackingData
    data.metadata = "note"
    #expect(wall.persistentBackingData.metadata as? String == "note")
    let other = _wall(true)
    data.persistentModelID = other.persistentModelID
    #expect(wall.persistentBackingData.persistentModelID == other.persistentModelID)
  }

  @Test func `a model joins the context of what it is linked to`() throws {
    let (attic, key) = (Room(name: "attic"), Key(number: 4))
    _context.insert(attic)
    _context.insert(key)
    let wall = _wall(false)
    #expect(wall.modelContext == nil)
    wall.setValue(forKey: \.room, to: attic)
    #expect(wall.modelContext === _context)
    let other = _wall(false)
    other.setValue(forKey: \.keys, to: [key])
    #expect(other.modelContext === _context)
    try _context.save()
    #expect(try ModelContext(_context.container).fetchCount(FetchDescriptor<Wall>()) == 2)
  }

  @Test func `what is set is stored`() throws {
    let wall = _wall(true)
    wall.setValue(forKey: \.width, to: 7)
    wall.setValue(forKey: \.key, to: Key(number: 5))
    wall.setTransformableValue(forKey: \.paint, to: Paint(9))
    wall.setValue(forKey: \.keys, to: [Key(number: 6)])
    try _context.save()
    let other = ModelContext(_context.container)
    let stored = try #require(try other.fetch(FetchDescriptor<Wall>()).first)
    #expect(stored.width == 7 && stored.key.number == 5 && stored.paint == Paint(9))
    #expect(stored.keys.map(\.number) == [6] && stored.room.name == "hall")
  }
}

@Model private final class Wall {
  var width: Int = 1
  @Attribute(.transformable(by: "Paint")) var paint: Paint = Paint(1)
  var room: Room
  var next: Room?
  var key: Key
  var spare: Key?
  var rooms: [Room] = []
  var keys: [Key] = []

  init(room: Room, key: Key) {
    self.room = room
    self.key = key
  }
}

@Model private final class Room {
  var name: String
  init(name: String) { self.name = name }
}

@Model private final class Key: Codable {
  var number: Int
  init(number: Int) { self.number = number }
  required init(from decoder: any Decoder) throws {
    number = try decoder.singleValueContainer().decode(Int.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

private final class Paint: NSObject, @unchecked Sendable {
  // Unchecked: immutable.
  let number: UInt8
  init(_ number: UInt8) { self.number = number }
  override func isEqual(_ object: Any?) -> Bool { (object as? Paint)?.number == number }
  override var hash: Int { Int(number) }
}

private final class PaintTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? Paint).map { Data([$0.number]) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data)?.first.map { Paint($0) } }
}
