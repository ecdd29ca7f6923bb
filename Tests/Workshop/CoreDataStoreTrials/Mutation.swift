import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// A way to damage a store file.
package enum Mutation: String, CaseIterable, Sendable {
  case flippedBytes
  case flippedHeader
  case truncated
  case swappedPages
  case overwrittenPage
  case wrongCells
  case wrongKeys
  case wrongMetadata
  case wrongModelCache
  case droppedParts
  case spoiltLog
  case foreignDatabase
  case otherFile

  /// Creates a damaged file at `target`, from a copy of `original` if the kind of mutation needs one.
  package func make(_ target: URL, from original: URL, _ numbers: inout SeededRandom) throws {
    switch self {
    case .foreignDatabase: try ForeignDatabase.make(target, &numbers)
    case .otherFile: try Self._otherFile(&numbers).write(to: target)
    case .wrongCells, .wrongKeys, .wrongMetadata, .wrongModelCache, .droppedParts:
      try Self._copy(original, to: target)
      // A statement that SQLite itself refuses, such as NULL for a key, leaves that cell unchanged.
      let connection = try Connection(path: target.path, mode: .readWrite)
      try SQLMutation(connection, &numbers).apply(self, &numbers)
      try? connection.checkpoint(.truncate)
    case .spoiltLog: try _spoilLog(target, original, &numbers)
    case .flippedBytes, .flippedHeader, .truncated, .swappedPages, .overwrittenPage:
      var bytes = try Data(contentsOf: original)
      _spoil(&bytes, &numbers)
      try bytes.write(to: target)
    }
  }

  private static func _copy(_ original: URL, to target: URL) throws {
    try Data(contentsOf: original).write(to: target)
    let log = URL(fileURLWithPath: original.path + "-wal")
    if let data = try? Data(contentsOf: log) {
      try data.write(to: URL(fileURLWithPath: target.path + "-wal"))
    }
  }

  private func _spoil(_ bytes: inout Data, _ numbers: inout SeededRandom) {
    let pageSize = bytes.count >= 18 ? max(512, Int(bytes[16]) << 8 | Int(bytes[17])) : 4096
    let pages = max(1, bytes.count / pageSize)
    func page(_ numbers: inout SeededRandom) -> Range<Int> {
      let first = Int.random(in: 0..<pages, using: &numbers) * pageSize
      return first..<min(bytes.count, first + pageSize)
    }
    switch self {
    case .flippedBytes:
      for _ in 0..<Int.random(in: 1...64, using: &numbers) {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= UInt8.random(in: 1...255, using: &numbers)
      }
    case .flippedHeader:
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        bytes[Int.random(in: 0..<min(200, bytes.count), using: &numbers)] = UInt8.random(
          in: 0...255, using: &numbers)
      }
    case .truncated: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &numbers))
    case .swappedPages:
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let (one, other) = (page(&numbers), page(&numbers))
        guard one.count == other.count else { continue }
        let (first, second) = (Data(bytes[one]), Data(bytes[other]))
        bytes.replaceSubrange(one, with: second)
        bytes.replaceSubrange(other, with: first)
      }
    default:
      let range = page(&numbers)
      let isNoise = Bool.random(using: &numbers)
      bytes.replaceSubrange(
        range, with: range.map { _ in isNoise ? UInt8.random(in: 0...255, using: &numbers) : 0 })
    }
  }

  /// A damaged log of the file, or an unrelated one.
  private func _spoilLog(_ target: URL, _ original: URL, _ numbers: inout SeededRandom) throws {
    try Self._copy(original, to: target)
    let log = URL(fileURLWithPath: target.path + "-wal")
    var bytes = (try? Data(contentsOf: log)) ?? Data()
    if bytes.isEmpty {
      bytes = Data((0..<8192).map { _ in UInt8.random(in: 0...255, using: &numbers) })
      bytes.replaceSubrange(0..<8, with: [0x37, 0x7f, 0x06, 0x82, 0x00, 0x2d, 0xe2, 0x18])
    }
    for _ in 0..<Int.random(in: 1...16, using: &numbers) {
      bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= UInt8.random(in: 1...255, using: &numbers)
    }
    try bytes.prefix(Int.random(in: 1...bytes.count, using: &numbers)).write(to: log)
    let memory = URL(fileURLWithPath: original.path + "-shm")
    if Bool.random(using: &numbers), let data = try? Data(contentsOf: memory) {
      try data.write(to: URL(fileURLWithPath: target.path + "-shm"))
    }
  }

  private static func _otherFile(_ numbers: inout SeededRandom) -> Data {
    switch Int.random(in: 0..<6, using: &numbers) {
    case 0: return Data()
    case 1: return Data("SQLite format 3\u{0}".utf8)
    case 2: return Data("<?xml version=\"1.0\"?>\n<database><databaseInfo/></database>\n".utf8)
    case 3: return Data((0..<5000).map { _ in UInt8.random(in: 32...126, using: &numbers) })
    case 4:
      return Data("SQLite format 3\u{0}".utf8)
        + Data((0..<9000).map { _ in UInt8.random(in: 0...255, using: &numbers) })
    default:
      return Data(
        (0..<Int.random(in: 1...3000, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers)
        })
    }
  }
}
