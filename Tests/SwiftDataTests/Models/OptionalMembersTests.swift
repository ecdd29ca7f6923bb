import SwiftData
import TestSupport
import Testing

/// Has optional to-manys, as stores that are synchronized require.
@Model final class Flower {
  var name = ""
  @Relationship(deleteRule: .cascade, inverse: \Petal.flower) var petals: [Petal]?
  @Relationship(inverse: \Bee.flowers) var bees: [Bee]? = []

  init(name: String) { self.name = name }
}

@Model final class Petal {
  var number = 0
  var flower: Flower?

  init(number: Int) { self.number = number }
}

@Model final class Bee {
  var name = ""
  var flowers: [Flower]?

  init(name: String) { self.name = name }
}

/// To-manys that are declared optional.
@Suite struct OptionalMembersTests {
  enum Place: CaseIterable, Sendable {
    case memory, file, custom
  }

  private let _box = MemoStore.Box()
  private let _directory: URL

  init() throws { _directory = try TemporaryPlace.makeDirectory() }

  private func _context(_ place: Place) throws -> ModelContext {
    let schema = Schema([Flower.self])
    let container =
      switch place {
      case .memory:
        try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      case .file:
        try ModelContainer(
          for: schema, configurations: ModelConfiguration(url: _directory.appendingPathComponent("a.store")))
      case .custom: try ModelContainer(for: schema, configurations: [MemoStore.Configuration(box: _box)])
      }
    return ModelContext(container)
  }

  private func _flower(_ context: ModelContext) throws -> Flower {
    try #require(try context.fetch(FetchDescriptor<Flower>()).first)
  }

  private func _numbers(_ flower: Flower) -> [Int]? { flower.petals?.map(\.number).sorted() }

  @Test func `a new model has none, until some are assigned`() {
    let flower = Flower(name: "rose")
    #expect(flower.petals?.isEmpty ?? true)
    flower.petals = [Petal(number: 1), Petal(number: 2)]
    #expect(_numbers(flower) == [1, 2])
    flower.petals?.append(Petal(number: 3))
    #expect(_numbers(flower) == [1, 2, 3])
    flower.petals = nil
    #expect(flower.petals?.isEmpty ?? true)
  }

  @Test(arguments: Place.allCases) func `members are saved and read, with their inverse`(_ place: Place)
    throws
  {
    let context = try _context(place)
    let flower = Flower(name: "rose")
    context.insert(flower)
    flower.petals = [Petal(number: 2)]
    flower.petals?.append(Petal(number: 1))
    flower.bees?.append(Bee(name: "Maya"))
    try context.save()
    let other = place == .memory ? ModelContext(context.container) : try _context(place)
    let read = try _flower(other)
    #expect(_numbers(read) == [1, 2])
    #expect(read.petals?.allSatisfy { $0.flower === read } == true)
    #expect(read.bees?.map(\.name) == ["Maya"])
    #expect(read.bees?.first?.flowers?.map(\.name) == ["rose"])
  }

  @Test(arguments: Place.allCases) func `members are removed, and all by nil`(_ place: Place) throws {
    let context = try _context(place)
    let flower = Flower(name: "rose")
    context.insert(flower)
    let (one, two) = (Petal(number: 1), Petal(number: 2))
    flower.petals = [one, two]
    try context.save()
    flower.petals?.removeAll { $0 === one }
    #expect(one.flower == nil && two.flower === flower)
    try context.save()
    #expect(_numbers(flower) == [2])
    flower.petals = nil
    #expect(two.flower == nil)
    try context.save()
    let other = place == .memory ? ModelContext(context.container) : try _context(place)
    #expect(try _flower(other).petals?.isEmpty ?? true)
    #expect(try other.fetchCount(FetchDescriptor<Petal>()) == 2)
  }

  @Test func `they are read and set by key path`() throws {
    let context = try _context(.memory)
    for isInserted in [false, true] {
      let flower = Flower(name: "rose")
      if isInserted { context.insert(flower) }
      flower.setValue(forKey: \.petals, to: [Petal(number: 4)])
      #expect(flower.getValue(forKey: \.petals)?.map(\.number) == [4])
      flower.setValue(forKey: \.petals, to: nil)
      #expect(flower.getValue(forKey: \.petals)?.isEmpty ?? true)
    }
  }

  @Test func `predicates reach through them`() throws {
    let context = try _context(.file)
    for (name, count) in [("rose", 3), ("daisy", 0), ("tulip", 1)] {
      let flower = Flower(name: name)
      context.insert(flower)
      if count > 0 { flower.petals = (1...count).map { Petal(number: $0) } }
    }
    try context.save()
    func names(_ predicate: Predicate<Flower>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }
    try #expect(names(#Predicate { $0.petals?.contains { $0.number == 2 } ?? false }) == ["rose"])
    try #expect(names(#Predicate { ($0.petals?.count ?? 0) > 0 }) == ["rose", "tulip"])
  }

  @Test func `a cascade deletes them`() throws {
    let context = try _context(.file)
    let flower = Flower(name: "rose")
    context.insert(flower)
    flower.petals = [Petal(number: 1)]
    flower.bees = [Bee(name: "Maya")]
    try context.save()
    context.delete(flower)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Petal>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Bee>()) == 1)
  }
}
