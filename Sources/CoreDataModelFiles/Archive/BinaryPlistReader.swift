import Foundation

/// The reason why a binary property list is unreadable.
struct BinaryPlistError: Error {
  let reason: String
}

/// Reads binary property lists into values.
///
/// Beyond the checks of `BinaryPlistTable`, nesting and the number of values are bounded.
struct BinaryPlistReader {
  private let _table: BinaryPlistTable
  private var _budget: Int

  /// Keyed archives nest values three levels deep.
  private static let _depthLimit = 32

  /// Returns the top value of the property list in `data`.
  ///
  /// - Throws: `BinaryPlistError`.
  static func read(_ data: Data) throws -> PlistValue {
    let table = try BinaryPlistTable(data)
    // Objects may be referenced often, but a list that expands to much more than the file is malicious.
    var reader = BinaryPlistReader(_table: table, _budget: table.size * 4 + 1024)
    return try reader._value(table.top, depth: 0)
  }

  private mutating func _value(_ index: Int, depth: Int) throws -> PlistValue {
    guard depth < Self._depthLimit else { throw BinaryPlistError(reason: "values are nested too deeply") }
    _budget -= 1
    guard _budget > 0 else { throw BinaryPlistError(reason: "unfolds to far more values than the file has") }
    switch _table.kind(index) {
    case .array:
      let references = _table.members(index)
      var members: [PlistValue] = []
      members.reserveCapacity(references.count)
      for position in 0..<references.count {
        members.append(try _value(references[position], depth: depth + 1))
      }
      return .array(members)
    case .dictionary:
      let entries = _table.entries(index)
      var fields = PlistFields()
      fields.reserveCapacity(min(entries.count, 64))
      for position in 0..<entries.count {
        fields[_table.string(entries[position])] = try _value(
          entries[entries.count + position], depth: depth + 1)
      }
      return .dictionary(fields)
    default: return _table.scalar(index)
    }
  }
}
