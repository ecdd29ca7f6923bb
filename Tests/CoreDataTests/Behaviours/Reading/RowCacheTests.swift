import CoreDataModelSchema
import Foundation
import TestSupport
import Synchronization
import Testing

@testable import CoreData

/// The coordinator's row cache is bounded in rows and in bytes.
@Suite struct RowCacheTests {
  private let _space: ObjectIDSpace

  init() throws {
    let stack = try TestStack(.memory)
    _space = try stack.root.performAndWait {
      let author = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return author.objectID.space
    }
  }

  private func _row(_ bytes: Int, version: Int64 = 1) -> Row {
    var row = Row(count: 2, version: version)
    row.set(.data(Data(repeating: 1, count: bytes)), at: 0)
    return row
  }

  private func _key(_ number: Int64) -> ObjectKey { ObjectKey(space: _space, reference: number) }

  private func _keep(_ cache: RowCache, _ number: Int64, bytes: Int) {
    cache.keep(_row(bytes), for: _key(number), readAt: cache.moment)
  }

  @Test func `rows beyond the bound of bytes are dropped, the least recently used first`() {
    let cache = RowCache(byteCapacity: 100_000)
    for number in 1...1000 { _keep(cache, Int64(number), bytes: 10_000) }
    #expect(cache.size.bytes <= 2 * 100_000 + 10_100)
    #expect(cache.row(for: _key(1000)) != nil)
    #expect(cache.row(for: _key(1)) == nil)
  }

  @Test func `the size counts what was used lately and what was used before`() {
    let cache = RowCache(byteCapacity: 100_000)
    for number in 1...15 { _keep(cache, Int64(number), bytes: 10_000) }
    #expect(cache.size.rows == 15)
    #expect(cache.size.bytes >= 150_000)
  }

  /// What another thread does.
  private final class Other: Sendable {
    let hasBegun = Atomic<Bool>(false)
    let foundRow = Atomic<Bool>(false)
  }

  @Test func `rows that are found to be overtaken are gone before another thread reads one`() {
    let (cache, key, other, group) = (RowCache(), _key(1), Other(), DispatchGroup())
    _keep(cache, 1, bytes: 100)
    cache.removeAll {
      DispatchQueue.global().async(group: group) {
        other.hasBegun.store(true, ordering: .releasing)
        other.foundRow.store(cache.row(for: key) != nil, ordering: .releasing)
      }
      while !other.hasBegun.load(ordering: .acquiring) {}
      for _ in 0..<1000 { sched_yield() }
      return true
    }
    group.wait()
    let found = other.foundRow.load(ordering: .acquiring)
    #expect(!found)
  }

  @Test func `a row that is used stays`() {
    let cache = RowCache(byteCapacity: 100_000)
    _keep(cache, 0, bytes: 1_000)
    for number in 1...1000 {
      _keep(cache, Int64(number), bytes: 10_000)
      #expect(cache.row(for: _key(0)) != nil)
    }
  }

  @Test func `a row that would take most of the cache is not kept`() {
    let cache = RowCache(byteCapacity: 100_000)
    _keep(cache, 1, bytes: 10)
    _keep(cache, 2, bytes: 60_000)
    #expect(cache.row(for: _key(1)) != nil)
    #expect(cache.row(for: _key(2)) == nil)
    // A save of such a row must not leave the older one.
    cache.commit(.init(written: [(_key(1), _row(60_000, version: 2))]))
    #expect(cache.row(for: _key(1)) == nil)
  }

  @Test func `bytes follow replaced and dropped rows`() {
    let cache = RowCache(byteCapacity: 1_000_000)
    _keep(cache, 1, bytes: 50_000)
    cache.commit(.init(written: [(_key(1), _row(10, version: 2))]))
    #expect(cache.size.bytes < 1_000)
    cache.forget([_key(1)])
    #expect(cache.size.bytes == 0)
    #expect(cache.size.rows == 0)
  }

  @Test func `a late row of an older version does not replace the newer one`() {
    let cache = RowCache()
    cache.commit(.init(written: [(_key(1), _row(10, version: 2))]))
    cache.commit(.init(written: [(_key(1), _row(10, version: 1))]))
    #expect(cache.row(for: _key(1))?.version == 2)
  }

  @Test func `rows that a context has read are let go with it`() throws {
    let stack = try TestStack(.sqlite)
    try stack.fresh { context in
      for number in 0..<300 {
        context.insert("Book", ["title": "\(number)", "cover": Data(repeating: 1, count: 100_000)])
      }
      try context.save()
    }
    try stack.fresh { context in _ = try context.all("Book", by: "title").map { $0.text("title") } }
    #expect(stack.coordinator.rowCache.size.bytes < 17 << 20)
  }

  // MARK: Side by side

  /// A server whose rows savers change side by side: what a saver has begun, committed and adopted in the cache are
  /// steps that others come between.
  private struct Server {
    var versions: [Int64: Int64] = [:]
    /// What savers have returned: versions, and deletions.
    var returned: [Int64: Int64] = [:]
  }

  /// The same numbers for the same seed.
  private struct Sequence: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private enum Work {
    case begun(Int64, begun: RowCache.Moment)
    case committed(Int64, version: Int64?, begun: RowCache.Moment)
    case reading(Int64, RowCache.Moment)
    case read(Int64, version: Int64?, RowCache.Moment)
  }

  @Test(arguments: UInt64(0)..<20)
  func `no row is older than a save that has returned, in whatever order saves and reads end`(_ seed: UInt64)
  {
    var random = Sequence(state: seed)
    let cache = RowCache(capacity: 64)
    var server = Server()
    var work: [Work] = []
    /// Commits so far by key, with the deletions.
    var commits: [Int64: Int64] = [:]
    func check() -> Bool {
      (Int64(0)..<8).allSatisfy { number in
        guard let row = cache.row(for: _key(number)) else { return true }
        return row.version >= server.returned[number] ?? 0
      }
    }
    var isRight = true
    for _ in 0..<5000 {
      if work.count < 6 {
        let number = Int64.random(in: 0..<8, using: &random)
        work.append(
          Bool.random(using: &random)
            ? .begun(number, begun: cache.moment) : .reading(number, cache.moment))
      }
      let place = Int.random(in: work.indices, using: &random)
      switch work.remove(at: place) {
      case .begun(let number, let begun):
        // A deletion has a number, too, so that what comes later is newer.
        let next = (commits[number] ?? 0) + 1
        commits[number] = next
        let isDeletion = Int.random(in: 0..<4, using: &random) == 0
        server.versions[number] = isDeletion ? nil : next
        work.append(.committed(number, version: isDeletion ? -next : next, begun: begun))
      case .committed(let number, let version?, let begun):
        if version > 0 {
          cache.commit(.init(written: [(_key(number), _row(8, version: version))]), begunAt: begun)
        } else {
          cache.commit(.init(deleted: [_key(number)]), begunAt: begun)
        }
        server.returned[number] = max(server.returned[number] ?? 0, abs(version))
        isRight = isRight && check()
      case .committed: break
      case .reading(let number, let moment):
        work.append(.read(number, version: server.versions[number], moment))
      case .read(let number, let version, let moment):
        if let version { cache.keep(_row(8, version: version), for: _key(number), readAt: moment) }
        isRight = isRight && check()
      }
    }
    #expect(isRight)
  }

  @Test func `a save of one row does not keep reads of others from being cached`() {
    let cache = RowCache()
    let moment = cache.moment
    cache.commit(.init(written: [(_key(1), _row(8, version: 2))]))
    cache.keep(_row(8), for: _key(2), readAt: moment)
    cache.keep(_row(8), for: _key(1), readAt: moment)
    #expect(cache.row(for: _key(2)) != nil)
    #expect(cache.row(for: _key(1))?.version == 2)
  }

  @Test func `a read that was under way when all rows were dropped is not cached`() {
    let cache = RowCache()
    let moment = cache.moment
    cache.removeAll()
    cache.keep(_row(8), for: _key(1), readAt: moment)
    #expect(cache.row(for: _key(1)) == nil)
  }

  @Test func `a read that another coordinator's save has overtaken is not cached`() throws {
    let stack = try TestStack(.memory)
    let author = try stack.stored("Author", ["name": "Ada"])
    let (cache, key) = (stack.coordinator.rowCache, try #require(author.objectID.key))
    cache.removeAll()
    let moment = cache.moment
    stack.coordinator.adoptForeign([
      ChangeLayer.Entry(
        kind: .updated, id: author.objectID, base: _row(8), row: _row(8, version: 2), changed: SlotSet(),
        isWhole: false)
    ])
    cache.keep(_row(8), for: key, readAt: moment)
    #expect(cache.row(for: key) == nil)
  }
}
