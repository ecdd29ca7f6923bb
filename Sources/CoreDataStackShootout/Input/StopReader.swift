import Foundation

/// Reads a GTFS `stops.txt`: comma-separated, with columns identified by the names in the first line.
///
/// Works on bytes. Invalid rows are counted and skipped; an invalid file throws.
package struct StopReader: Sendable {
  /// Maximum number of problems that a feed describes; it only counts further ones.
  package static let problemsKept = 5

  /// Columns that an import requires.
  private static let _required = ["stop_id", "stop_name", "stop_lat", "stop_lon"]

  /// Name of the input in messages.
  private let _name: String

  package init(name: String) { _name = name }

  /// Reads a file.
  package static func read(path: String) throws(StopReaderError) -> StopFeed {
    try StopReader(name: path).read(try contents(ofFile: path))
  }

  /// The bytes of a file of any type except a directory; of standard input for `-`.
  package static func contents(ofFile path: String) throws(StopReaderError) -> [UInt8] {
    let descriptor = path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let reason = errno
      throw reason == ENOENT || reason == ENOTDIR
        ? .noSuchFile(path: path) : .unreadable(path: path, reason: String(cString: strerror(reason)))
    }
    defer { close(descriptor) }
    var facts = stat()
    if fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR { throw .isDirectory(path: path) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(0, Int(facts.st_size)) + 1)
    var chunk = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = Foundation.read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Reads the contents of a file.
  package func read(_ bytes: [UInt8]) throws(StopReaderError) -> StopFeed {
    guard !bytes.isEmpty else { throw .empty(name: _name) }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw .notUTF8(name: _name, line: 1, looksLikeUTF16: true)
    }
    if let offset = _firstInvalidByte(in: bytes) {
      let line = 1 + bytes[..<offset].count { $0 == 0x0A }
      throw .notUTF8(name: _name, line: line, looksLikeUTF16: false)
    }
    var scanner = FieldScanner(bytes)
    guard scanner.next() else { throw .empty(name: _name) }
    let columns = try _columns(scanner.fields)
    let needed = columns.max()! + 1
    var feed = StopFeed()
    feed.stops.reserveCapacity(bytes.count / 64)
    while scanner.next() {
      if scanner.isBlank { continue }
      do throws(RowProblem) {
        if scanner.endsInsideQuotes { throw RowProblem("a quote is opened and never closed") }
        if scanner.fields.count < needed {
          throw RowProblem("too few columns, \(scanner.fields.count) where \(needed) are needed")
        }
        feed.stops.append(try _stop(scanner.fields, columns))
      } catch {
        feed.skippedRows += 1
        if feed.problems.count < Self.problemsKept {
          feed.problems.append(StopFeed.Problem(line: scanner.line, reason: error.reason))
        }
      }
    }
    guard !feed.stops.isEmpty else {
      throw .noStops(name: _name, skippedRows: feed.skippedRows, first: feed.problems.first)
    }
    return feed
  }

  private struct RowProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// The indexes of the required columns, in their order.
  private func _columns(_ header: [FieldScanner.Field]) throws(StopReaderError) -> [Int] {
    let names = header.map { String(decoding: $0.bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces) }
    let missing = Self._required.filter { !names.contains($0) }
    guard missing.isEmpty else {
      throw .missingColumns(name: _name, missing: missing, found: names)
    }
    return Self._required.map { names.firstIndex(of: $0)! }
  }

  private func _stop(_ fields: [FieldScanner.Field], _ columns: [Int]) throws(RowProblem) -> Stop {
    let identifier = String(decoding: fields[columns[0]].bytes, as: UTF8.self)
    guard !identifier.isEmpty else { throw RowProblem("stop_id is empty") }
    return Stop(
      identifier: identifier, name: String(decoding: fields[columns[1]].bytes, as: UTF8.self),
      latitude: try _degrees(fields[columns[2]], "stop_lat", limit: 90),
      longitude: try _degrees(fields[columns[3]], "stop_lon", limit: 180))
  }

  private func _degrees(
    _ field: FieldScanner.Field, _ column: String, limit: Double
  ) throws(RowProblem) -> Double {
    let text = String(decoding: field.bytes, as: UTF8.self)
    let trimmed = text.utf8.contains(0x20) ? text.trimmingCharacters(in: .whitespaces) : text
    guard !trimmed.isEmpty else { throw RowProblem("\(column) is empty") }
    // Swift also parses hexadecimal, "inf" and "nan", none of which is a coordinate.
    let isPlain = trimmed.utf8.allSatisfy {
      (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 | 0x20 == 0x65
    }
    guard isPlain, let degrees = Double(trimmed), degrees.isFinite else {
      throw RowProblem("\(column) is no number: '\(_shown(text))'")
    }
    guard degrees.magnitude <= limit else {
      throw RowProblem("\(column) is beyond ±\(Int(limit)): '\(_shown(text))'")
    }
    return degrees
  }

  /// Untrusted text for a message: short, and without control characters that a terminal would interpret.
  private func _shown(_ text: String) -> String {
    let printable = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : String($0) }
    return printable.count > 30 ? printable.prefix(30).joined() + "…" : printable.joined()
  }

  /// Offset of the first byte that is not UTF-8; nil if all bytes are.
  private func _firstInvalidByte(in bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput, .error: return min(offset, bytes.count)
      }
    }
  }
}
