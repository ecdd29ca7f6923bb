import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// An object in the input of an import.
package struct InputRecord {
  package enum Field {
    case json(JSONValue)
    /// A field of CSV; nil is null.
    case text(String?)
  }

  package let entity: String
  /// The name by which others refer to it.
  package let identifier: String?
  package let fields: [(name: String, field: Field)]
  /// Its location, for messages: `books.ndjson:17`.
  package let place: String
}

/// A sequence of objects that can be read repeatedly.
package protocol RecordSource {
  /// The next object; nil at the end.
  ///
  /// - Throws: `ToolFailure` with the location.
  func next() throws(ToolFailure) -> InputRecord?
  /// The fraction that has been read, 0 to 1.
  var fraction: Double { get }
}

package enum RecordSources {
  /// A source that begins at the first object.
  ///
  /// - Parameter entity: The entity of objects that do not name theirs, and of a CSV file that is no directory's.
  package static func open(
    _ input: SpooledInput, _ form: ExchangeForm, entity: String? = nil
  ) throws(ToolFailure) -> any RecordSource {
    switch form {
    case .ndjson: LineSource(try InputFile(path: input.path, name: input.name), entity)
    case .json: DocumentSource(try InputFile(path: input.path, name: input.name), entity)
    case .csv: try CSVSource(input, entity)
    }
  }

  /// An object of JSON as a record.
  static func record(
    _ bytes: [UInt8], entity: String?, place: String
  ) throws(ToolFailure) -> InputRecord {
    let members = try JSONValue.members(parsing: bytes, at: place)
    var name = entity
    var identifier: String?
    var fields: [(name: String, field: InputRecord.Field)] = []
    for member in members {
      switch (member.name, member.value) {
      case (ExchangeKeys.entity, .string(let text)): name = text
      case (ExchangeKeys.identifier, .string(let text)): identifier = text
      case (ExchangeKeys.identifier, .number(let digits)): identifier = digits
      case (ExchangeKeys.identifier, .null): break
      case (ExchangeKeys.entity, let other), (ExchangeKeys.identifier, let other):
        throw ToolFailure(.badInput, "\(place): \(member.name) must be a string, not \(other.kind).")
      default: fields.append((member.name, .json(member.value)))
      }
    }
    guard let name else {
      throw ToolFailure(
        .badInput, "\(place): the object does not say its entity. Give it a member \"$entity\".")
    }
    return InputRecord(entity: name, identifier: identifier, fields: fields, place: place)
  }
}

extension InputFile {
  var fraction: Double { size > 0 ? Double(position) / Double(size) : 0 }
}

/// One object per line; empty lines are skipped.
struct LineSource: RecordSource {
  private let _file: InputFile
  private let _entity: String?

  init(_ file: InputFile, _ entity: String?) { (_file, _entity) = (file, entity) }

  var fraction: Double { _file.fraction }

  func next() throws(ToolFailure) -> InputRecord? {
    while true {
      let line = _file.line
      guard let bytes = try _file.nextLine() else { return nil }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      return try RecordSources.record(bytes, entity: _entity, place: "\(_file.path):\(line)")
    }
  }
}

/// A document read object by object: `{ "Book": [ {…}, {…} ], "Author": […] }`, or one array of objects that
/// specify their entity.
///
/// Not for concurrent use.
final class DocumentSource: RecordSource {
  private enum State { case start, members, elements, end }

  private let _file: InputFile
  private var _state = State.start
  private var _entity: String?
  private var _isFirst = true
  private var _isBareArray = false

  init(_ file: InputFile, _ entity: String?) { (_file, _entity) = (file, entity) }

  var fraction: Double { _file.fraction }

  func next() throws(ToolFailure) -> InputRecord? {
    while true {
      switch _state {
      case .start: try _begin()
      case .members: try _beginEntity()
      case .elements:
        if let record = try _element() { return record }
      case .end: return nil
      }
    }
  }

  private func _failure(_ problem: String) -> ToolFailure {
    ToolFailure(.badInput, "\(_file.path):\(_file.line): \(problem).")
  }

  private func _skipBlanks() throws(ToolFailure) -> UInt8? {
    while let byte = try _file.peek() {
      guard byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D else { return byte }
      _ = try _file.next()
    }
    return nil
  }

  private func _begin() throws(ToolFailure) {
    let byte = try _skipBlanks()
    guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") else {
      throw _failure("an object with an array for each entity was expected")
    }
    _ = try _file.next()
    _isBareArray = byte == UInt8(ascii: "[")
    _state = _isBareArray ? .elements : .members
  }

  private func _finish() throws(ToolFailure) {
    guard try _skipBlanks() == nil else { throw _failure("something follows the document") }
    _state = .end
  }

  private func _beginEntity() throws(ToolFailure) {
    var byte = try _skipBlanks()
    if byte == UInt8(ascii: "}") {
      _ = try _file.next()
      return try _finish()
    }
    if _entity != nil {
      guard byte == UInt8(ascii: ",") else { throw _failure("',' or '}' was expected") }
      _ = try _file.next()
      byte = try _skipBlanks()
    }
    guard byte == UInt8(ascii: "\"") else { throw _failure("the name of an entity was expected") }
    let line = _file.line
    guard case .string(let name)? = try? JSONValue(parsing: try _string()) else {
      throw ToolFailure(.badInput, "\(_file.path):\(line): the name of an entity was expected.")
    }
    _entity = name
    guard try _skipBlanks() == UInt8(ascii: ":") else { throw _failure("':' was expected") }
    _ = try _file.next()
    guard try _skipBlanks() == UInt8(ascii: "[") else { throw _failure("an array of objects was expected") }
    _ = try _file.next()
    _isFirst = true
    _state = .elements
  }

  private func _element() throws(ToolFailure) -> InputRecord? {
    var byte = try _skipBlanks()
    if byte == UInt8(ascii: "]") {
      _ = try _file.next()
      if _isBareArray { try _finish() } else { _state = .members }
      return nil
    }
    if !_isFirst {
      guard byte == UInt8(ascii: ",") else { throw _failure("',' or ']' was expected") }
      _ = try _file.next()
      byte = try _skipBlanks()
    }
    _isFirst = false
    guard byte == UInt8(ascii: "{") else { throw _failure("an object was expected") }
    let line = _file.line
    return try RecordSources.record(try _object(), entity: _entity, place: "\(_file.path):\(line)")
  }

  /// The bytes of the object that starts here, delimited by braces.
  private func _object() throws(ToolFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var depth = 0
    while let byte = try _file.peek() {
      if byte == UInt8(ascii: "\"") {
        bytes += try _string()
        continue
      }
      _ = try _file.next()
      bytes.append(byte)
      if byte == UInt8(ascii: "{") { depth += 1 }
      if byte == UInt8(ascii: "}") {
        depth -= 1
        if depth == 0 { return bytes }
      }
    }
    throw _failure("an object does not end")
  }

  /// The bytes of the string that starts here, including quotes.
  private func _string() throws(ToolFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var isEscaped = false
    while let byte = try _file.next() {
      bytes.append(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\""), bytes.count > 1 {
        return bytes
      }
    }
    throw _failure("a string does not end")
  }
}

/// A directory with a file for each entity, or a file of one entity.
///
/// Not thread-safe.
final class CSVSource: RecordSource {
  private let _files: [(path: String, name: String, entity: String)]
  private var _index = -1
  private var _table: CSVTable?

  /// - Parameter entity: The entity of a file; nil if it must be a directory.
  /// - Throws: `ToolFailure` if the directory is missing or empty.
  init(_ input: SpooledInput, _ entity: String?) throws(ToolFailure) {
    let directory = input.path
    var isDirectory: ObjCBool = false
    if let entity,
      !FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory) || !isDirectory.boolValue
    {
      _files = [(directory, input.name, entity)]
      return
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
      throw ToolFailure(.noInput, "'\(input.name)' is no directory of CSV files.")
    }
    _files = names.filter { $0.lowercased().hasSuffix(".csv") }.sorted().map {
      ("\(directory)/\($0)", "\(directory)/\($0)", ($0 as NSString).deletingPathExtension)
    }
    guard !_files.isEmpty else { throw ToolFailure(.badInput, "There is no .csv file in '\(directory)'.") }
  }

  var fraction: Double { (Double(max(0, _index)) + (_table?.file.fraction ?? 0)) / Double(_files.count) }

  func next() throws(ToolFailure) -> InputRecord? {
    while true {
      if let _table, let (fields, place) = try _table.next() { return _record(fields, _table.columns, place) }
      _index += 1
      guard _index < _files.count else { return nil }
      _table = try CSVTable(try InputFile(path: _files[_index].path, name: _files[_index].name))
    }
  }

  private func _record(_ fields: [String?], _ names: [String], _ place: String) -> InputRecord {
    var identifier: String?
    var named: [(name: String, field: InputRecord.Field)] = []
    for (name, field) in zip(names, fields) {
      if name == ExchangeKeys.identifier {
        identifier = field
      } else {
        named.append((name, .text(field)))
      }
    }
    return InputRecord(entity: _files[_index].entity, identifier: identifier, fields: named, place: place)
  }
}
