import SwiftData
import Testing

/// Orders, ranges, batches and identifiers.
struct FetchTests {
  private let _context: ModelContext

  init() throws {
    _context = try ModelContext.ofShelves()
    for (number, title) in ["a10", "B2", "a9", "C"].enumerated() {
      _context.insert(Volume(title: title, pages: number))
    }
    try _context.save()
  }

  @Test func `texts sort as Finder does, byte by byte if asked`() throws {
    let plain = try _context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(plain.map(\.title) == ["a9", "a10", "B2", "C"])
    let bytes = try _context.fetch(
      FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title, comparator: .lexical)]))
    #expect(bytes.map(\.title) == ["B2", "C", "a10", "a9"])
    let reversed = try _context.fetch(
      FetchDescriptor<Volume>(
        sortBy: [SortDescriptor(\.title, comparator: .localizedStandard, order: .reverse)]))
    #expect(reversed.map(\.title) == ["C", "B2", "a10", "a9"])
  }

  @Test func `limit and offset apply to saved and unsaved together`() throws {
    _context.insert(Volume(title: "new", pages: -1))
    var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)])
    descriptor.fetchOffset = 1
    descriptor.fetchLimit = 2
    #expect(try _context.fetch(descriptor).map(\.pages) == [0, 1])
    descriptor.includePendingChanges = false
    #expect(try _context.fetch(descriptor).map(\.pages) == [1, 2])
  }

  @Test func `identifiers are those of the models, in order`() throws {
    let descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)])
    let identifiers = try _context.fetchIdentifiers(descriptor)
    #expect(try identifiers == _context.fetch(descriptor).map(\.persistentModelID))
  }

  @Test func `batched results are the context's models`() throws {
    let results = try _context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)]), batchSize: 2)
    #expect(results.count == 4 && results.map(\.pages) == [0, 1, 2, 3])
    #expect(results[2] === results[2])
  }

  @Test func `enumerating changes models`() throws {
    try _context.enumerate(FetchDescriptor<Volume>(), batchSize: 2, allowEscapingMutations: true) {
      $0.pages += 100
    }
    try _context.save()
    #expect(try Set(_context.stored(Volume.self).map(\.pages)) == [100, 101, 102, 103])
  }

  @Test func `properties and prefetching only change what is read at once`() throws {
    var descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.pages)])
    descriptor.propertiesToFetch = [\.title]
    descriptor.relationshipKeyPathsForPrefetching = [\.topics]
    let other = ModelContext(_context.container)
    #expect(try other.fetch(descriptor).map(\.pages) == [0, 1, 2, 3])
  }

  @Test func `models are ordered by what is computed, too`() throws {
    func pages(_ orders: SortDescriptor<Volume>...) throws -> [Int] {
      try _context.fetch(FetchDescriptor<Volume>(sortBy: orders)).map(\.pages)
    }
    try #expect(pages(SortDescriptor(\.minusPages)) == [3, 2, 1, 0])
    try #expect(pages(SortDescriptor(\.title.count), SortDescriptor(\.pages)) == [3, 1, 2, 0])
    try #expect(pages(SortDescriptor(\.answer), SortDescriptor(\.minusPages)) == [3, 2, 1, 0])
    try #expect(pages(SortDescriptor(\.label)) == pages(SortDescriptor(\.title)))
    try #expect(pages(SortDescriptor(\.heading)) == pages(SortDescriptor(\.title)))
  }

  @Test func `sets of identifiers and of cases are captured`() throws {
    let some = try _context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.pages < 2 }))
    let identifiers = Set(some.map(\.persistentModelID))
    let kinds: Set<VolumeKind> = [.novel]
    let other = ModelContext(_context.container)
    let found = try other.fetch(
      FetchDescriptor<Volume>(
        predicate: #Predicate { identifiers.contains($0.persistentModelID) && kinds.contains($0.kind) },
        sortBy: [SortDescriptor(\.pages)]))
    #expect(found.map(\.pages) == [0, 1])
  }
}

extension Volume {
  fileprivate var minusPages: Int { -pages }
  fileprivate var label: String { "\(title) \(pages)" }
  fileprivate var answer: Int { 42 }
  fileprivate var heading: String { title }
}
