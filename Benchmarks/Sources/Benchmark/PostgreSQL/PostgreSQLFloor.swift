import CPostgreSQLFloor

/// The work on libpq alone, on the tables of a store: see `PostgreSQLFloor.h`.
final class PostgreSQLFloor {
  private let _connection: OpaquePointer

  init(server: String, schema: String) throws {
    var reason = [CChar](repeating: 0, count: 512)
    guard let connection = floor_connect(server, schema, &reason, 512) else {
      throw Database.Failure(description: "libpq cannot connect: \(Self._text(reason))")
    }
    _connection = connection
  }

  deinit { floor_close(_connection) }

  private static func _text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func _check(_ code: Int32) throws {
    guard code == 0 else { throw Database.Failure(description: String(cString: floor_reason(_connection))) }
  }

  func execute(_ sql: String) throws { try _check(floor_execute(_connection, sql)) }

  /// The first column of a query's only row, and the text in the second.
  func digest(_ sql: String) throws -> (number: Int64, text: String) {
    var number: Int64 = 0
    var text = [CChar](repeating: 0, count: 64)
    try _check(floor_digest(_connection, sql, &number, &text, 64))
    return (number, Self._text(text))
  }

  /// How an import looks for rows that are there.
  enum Search { case none, all, each }

  /// Imports in batches, each one transaction.
  func importing(_ count: Int, batch: Int = 1000, finds: Search, _ watch: Stopwatch) throws {
    let found = [Search.none: FLOOR_FINDS_NONE, .all: FLOOR_FINDS_ALL, .each: FLOOR_FINDS_EACH][finds]!
    try _insert(count, batch, watch) { floor_import(_connection, $0, $1, Int32(found)) }
  }

  /// Inserts rows, each in a transaction of its own.
  func insertEach(_ count: Int, _ watch: Stopwatch) throws {
    try _insert(count, count, watch) { floor_insert_each(_connection, $0, $1) }
  }

  private func _insert(
    _ count: Int, _ batch: Int, _ watch: Stopwatch, _ insert: ([floor_row], Int32) -> Int32
  ) throws {
    var generator = StopGenerator(seed: 42)
    let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: batch * StopGenerator.stride)
    defer { texts.deallocate() }
    var done = 0
    while done < count {
      let size = min(batch, count - done)
      let rows = (0..<size).map { index in
        let start = texts + index * StopGenerator.stride
        let numbers = generator.next(into: start)
        let text = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
        return floor_row(
          id: Int64(done + index + 1), identifier: text + StopGenerator.identifier.lowerBound,
          name: text + StopGenerator.name.lowerBound,
          note: numbers.hasNote ? text + StopGenerator.note.lowerBound : nil, latitude: numbers.latitude,
          longitude: numbers.longitude, created: numbers.createdAt - 978_307_200, code: numbers.code,
          route: Int64(numbers.route), active: numbers.isActive ? 1 : 0)
      }
      try watch.time { try _check(insert(rows, Int32(size))) }
      done += size
    }
  }

  private func _reading(_ body: (inout floor_sum) throws -> Void) rethrows -> Check {
    var sum = floor_sum()
    try body(&sum)
    return Check(rows: Int(sum.rows), sum: sum.sum)
  }

  func all(_ watch: Stopwatch) throws -> Check {
    try _reading { sum in try watch.time { try _check(floor_all(_connection, &sum)) } }
  }

  func pages(_ watch: Stopwatch) throws -> Check {
    try _questions(watch) { floor_page(_connection, $0.low, $0.low + 200_000, CChar($0.initial), &$1) }
  }

  func counts(_ watch: Stopwatch) throws -> Check {
    try _questions(watch) { floor_count(_connection, $0.low, $0.low + 200_000, CChar($0.initial), &$1) }
  }

  private func _questions(
    _ watch: Stopwatch, _ ask: ((low: Int64, initial: UInt8), inout floor_sum) -> Int32
  ) throws -> Check {
    try _reading { sum in
      try watch.time { for question in PageQuestions() { try _check(ask(question, &sum)) } }
    }
  }

  func byID(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    let ids = Array(ids)
    return try _reading { sum in
      try watch.time { try _check(floor_by_id(_connection, ids, Int32(ids.count), &sum)) }
    }
  }

  func update(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws {
    let ids = Array(ids)
    try watch.time { try _check(floor_update(_connection, ids, Int32(ids.count))) }
  }

  func updateEach(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws {
    let ids = Array(ids)
    try watch.time { try _check(floor_update_each(_connection, ids, Int32(ids.count))) }
  }

  func delete(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws {
    let ids = Array(ids)
    try watch.time { try _check(floor_delete(_connection, ids, Int32(ids.count))) }
  }
}
