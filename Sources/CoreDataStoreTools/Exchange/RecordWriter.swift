import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Writes objects in one form.
protocol RecordWriter {
  /// Begins the objects of an entity, which may have none.
  func begin(_ entity: PropertyLayout) throws
  /// Writes an object of the entity; cells belong to `exchangedSlots`.
  func write(_ identity: StoredReference, _ cells: [FetchColumn.Cell], of entity: PropertyLayout) throws
  /// Ends the objects of the entity.
  func end(_ entity: PropertyLayout) throws
  /// Ends it all.
  func finish() throws
}

/// The members of an object in JSON.
private struct RecordJSON {
  let text: ValueText

  func members(
    _ identity: StoredReference, _ cells: [FetchColumn.Cell], of entity: PropertyLayout, names: [String]
  ) -> String {
    var result = "\"$id\":\(JSONText.quoted(text.identifier(identity)))"
    for (name, cell) in zip(names, cells) {
      result += ",\(name):"
      switch cell {
      case .value(let value, let attribute): result += text.json(value, of: attribute)
      case .members(let members): result += text.json(members)
      }
    }
    return result
  }

  /// Names of the members, quoted once for all objects.
  static func names(_ entity: PropertyLayout) -> [String] {
    entity.exchangedSlots.map { JSONText.quoted(entity.slots[$0].name) }
  }
}

/// An object a line.
final class LineWriter: RecordWriter {
  private let _sink: FileSink
  private let _json: RecordJSON
  private var _names: [String] = []
  private var _head = ""

  init(_ sink: FileSink, _ text: ValueText) {
    _sink = sink
    _json = RecordJSON(text: text)
  }

  func begin(_ entity: PropertyLayout) {
    _names = RecordJSON.names(entity)
    _head = "{\"$entity\":\(JSONText.quoted(entity.entityName)),"
  }

  func write(_ identity: StoredReference, _ cells: [FetchColumn.Cell], of entity: PropertyLayout) throws {
    try _sink.write(_head + _json.members(identity, cells, of: entity, names: _names) + "}\n")
  }

  func end(_ entity: PropertyLayout) {}

  func finish() throws { try _sink.finish() }
}

/// One document.
final class DocumentWriter: RecordWriter {
  private let _sink: FileSink
  private let _json: RecordJSON
  private var _names: [String] = []
  private var _isFirstEntity = true
  private var _isFirst = true

  init(_ sink: FileSink, _ text: ValueText) {
    _sink = sink
    _json = RecordJSON(text: text)
  }

  func begin(_ entity: PropertyLayout) throws {
    _names = RecordJSON.names(entity)
    try _sink.write((_isFirstEntity ? "{\n" : ",\n") + JSONText.quoted(entity.entityName) + ": [")
    _isFirstEntity = false
    _isFirst = true
  }

  func write(_ identity: StoredReference, _ cells: [FetchColumn.Cell], of entity: PropertyLayout) throws {
    try _sink.write(
      (_isFirst ? "\n{" : ",\n{") + _json.members(identity, cells, of: entity, names: _names) + "}")
    _isFirst = false
  }

  func end(_ entity: PropertyLayout) throws { try _sink.write(_isFirst ? "]" : "\n]") }

  func finish() throws {
    try _sink.write(_isFirstEntity ? "{}\n" : "\n}\n")
    try _sink.finish()
  }
}

/// A directory with a file for each entity.
final class CSVDirectoryWriter: RecordWriter {
  private let _directory: OutputDirectory
  private let _text: ValueText
  private var _sink: FileSink?

  init(_ directory: OutputDirectory, _ text: ValueText) {
    _directory = directory
    _text = text
  }

  func begin(_ entity: PropertyLayout) throws {
    let sink = try _directory.sink("\(entity.entityName).csv")
    try sink.write(
      CSVText.line([ExchangeKeys.identifier] + entity.exchangedSlots.map { entity.slots[$0].name }))
    _sink = sink
  }

  func write(_ identity: StoredReference, _ cells: [FetchColumn.Cell], of entity: PropertyLayout) throws {
    let fields = cells.map { cell -> String? in
      switch cell {
      case .value(let value, let attribute): _text.plain(value, of: attribute)
      // An empty list is an empty field.
      case .members(let members): members.isEmpty ? nil : members.map(_text.identifier).joined(separator: ";")
      }
    }
    try _sink?.write(CSVText.line([_text.identifier(identity)] + fields))
  }

  func end(_ entity: PropertyLayout) throws {
    try _sink?.finish()
    _sink = nil
  }

  func finish() throws { try _directory.finish() }
}
