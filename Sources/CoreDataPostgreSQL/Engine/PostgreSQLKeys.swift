import CoreData
import CoreDataPostgreSQLBinding
import Synchronization

/// Primary keys, taken from the database's sequences in blocks.
///
/// A sequence increments by a block, so that one call yields many keys. Keys of a block that a process does
/// not use are lost.
final class PostgreSQLKeys: Sendable {
  /// Keys in a block of a new store. The sequences of an existing store define their own block size.
  static let blockSize: Int64 = 1000
  /// Bits of a key below those of its bucket.
  static let bucketShift: Int64 = 48
  /// The part of a key that a sequence counts, as an expression over the column.
  static let countedPart = "(\"id\" & \((Int64(1) << bucketShift) - 1))"

  /// What is left of blocks.
  private struct Rest {
    /// The history of the database that has assigned them: one that does not know of it assigns them again.
    var timeline: Int64 = 0
    var ranges: [Int: Range<Int64>] = [:]

    mutating func follow(_ timeline: Int64) {
      if timeline == self.timeline { return }
      self.timeline = timeline
      ranges = [:]
    }
  }

  /// Quoted names of the sequences by the number of the root entity.
  private let _sequences: [Int: String]
  private let _rest = Mutex(Rest())
  private let _steps: Mutex<[Int: Int64]> = Mutex([:])

  /// Added to the numbers from the sequences.
  private let _bucket: Int64

  /// - Parameter bucket: Bucket of new objects; zero for none.
  init(_ mapping: StoreMapping, bucket: Int64) {
    _bucket = bucket << Self.bucketShift
    _sequences = Dictionary(
      uniqueKeysWithValues: mapping.tables.map { ($0.rootNumber, Self.sequence(of: $0)) })
  }

  /// Returns the name of the sequence of a table's keys.
  static func sequence(of table: TableMapping) -> String {
    let (schema, name) = PostgreSQLNames.parts(table.name)
    // Shortens a name at the length limit to fit the suffix.
    let sequence = PostgreSQLNames.cut(name, for: "_id_seq")
    return "\(PostgreSQLNames.quoted(schema)).\(PostgreSQLNames.quoted(sequence))"
  }

  /// Acquires keys of a root entity's table.
  func acquire(_ count: Int, root: Int, on connection: PostgreSQLConnection) throws -> [Int64] {
    let numbers = try _numbers(count, root: root, on: connection)
    return _bucket == 0 ? numbers : numbers.map { $0 | _bucket }
  }

  private func _numbers(_ count: Int, root: Int, on connection: PostgreSQLConnection) throws -> [Int64] {
    var result: [Int64] = []
    result.reserveCapacity(count)
    _rest.withLock { rest in
      rest.follow(connection.timeline)
      guard let range = rest.ranges[root] else { return }
      let taken = range.prefix(count)
      result += taken
      rest.ranges[root] = taken.endIndex < range.upperBound ? taken.endIndex..<range.upperBound : nil
    }
    guard result.count < count, let sequence = _sequences[root] else { return result }
    let step = try _step(root, sequence, on: connection)
    let missing = Int64(count - result.count)
    var parameters = PostgreSQLParameters()
    parameters.add((missing + step - 1) / step)
    let found = try connection.run(
      "SELECT pg_catalog.nextval(\(PostgreSQLNames.literal(sequence))) FROM pg_catalog.generate_series(1, $1::int8)",
      parameters)
    for row in 0..<found.rowCount {
      let block = found.int64(row, 0)..<(found.int64(row, 0) + step)
      let taken = block.prefix(count - result.count)
      result += taken
      if taken.endIndex < block.upperBound {
        _rest.withLock { rest in
          rest.follow(connection.timeline)
          rest.ranges[root] = taken.endIndex..<block.upperBound
        }
      }
    }
    return result
  }

  /// Returns the sequence's increment, which may differ in a store created by another program.
  private func _step(_ root: Int, _ sequence: String, on connection: PostgreSQLConnection) throws -> Int64 {
    if let step = _steps.withLock({ $0[root] }) { return step }
    var parameters = PostgreSQLParameters()
    parameters.add(sequence)
    let found = try connection.run(
      "SELECT seqincrement FROM pg_catalog.pg_sequence WHERE seqrelid = $1::text::regclass", parameters,
      isRepeated: false)
    let step = found.rowCount > 0 ? max(1, found.int64(0, 0)) : 1
    _steps.withLock { $0[root] = step }
    return step
  }
}
