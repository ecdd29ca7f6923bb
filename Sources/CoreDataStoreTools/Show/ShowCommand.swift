import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store show`.
  static let show = Command(
    CommandSyntax(
      "show", summary: "Show objects with all their values and relationships.",
      discussion: [
        "Objects are named as tables name them: Book/p17. Values are written in full, bytes by their number; an archive or a "
          + "property list as JSON, and the body of a note as text (docs/StoreFiles.md says how to have more of such). Related objects have their name and, if their entity has one, a text that tells them apart.",
        "A relationship lists its first ten members unless --all is given, and properties without a value are named at the end; "
          + "--json has all of them.",
      ],
      examples: [
        "coredata store show Books.sqlite Book/p1",
        "coredata store show Books.sqlite Book/p1 Author/p1 --json",
      ],
      options: [
        StoreArguments.model, .flag("all", "List all members of relationships."), StoreArguments.zone,
        StoreArguments.json,
      ],
      operands: [
        StoreArguments.store,
        CommandSyntax.Operand("OBJECT", repeats: true, "The name of an object, such as Book/p17."),
      ], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let zone = try StoreArguments.zone(arguments)
    let input = try StoreInput(arguments, environment)
    try input.reading { reader in
      var rows: [StoredRow] = []
      for name in arguments.operands.dropFirst() { rows.append(try ObjectName.row(name, reader)) }
      let terminal = environment.outputTerminal
      let view = ObjectView(
        reader, zone, ContentDescriptions(environment), memberLimit: arguments.has("all") ? .max : 10,
        width: terminal.isInteractive ? terminal.width : 100)
      if arguments.has("json") {
        let objects = try rows.map { try view.json($0) }
        try environment.output(
          objects.count == 1 ? objects[0] + "\n" : "[\(objects.joined(separator: ",\n"))]\n")
      } else {
        try environment.output(try rows.map { try view.text($0) }.joined(separator: "\n"))
      }
    }
  }
}

/// Names of objects on the command line.
enum ObjectName {
  /// Returns the row of an object such as `Book/p17`, `Book/17`, or of an ID's URI.
  ///
  /// - Throws: `ToolFailure` if there is none.
  static func row(_ name: String, _ reader: StoreReader) throws -> StoredRow {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1, let last = parts.last, let key = Int64(last.first == "p" ? last.dropFirst() : last)
    else {
      throw ToolFailure(
        .usage, "'\(name)' is no name of an object. Give its entity and its number: Book/p17.")
    }
    let text = String(parts[parts.count - 2])
    let entity = try reader.layout.entity(named: text.removingPercentEncoding ?? text)
    let found = try reader.row(StoredReference(entity: entity.entityNumber, key: key))
    guard let found, entity.family.contains(found.reference.entity) else {
      throw ToolFailure(.noInput, "There is no object \(entity.entityName)/p\(key) in the store.")
    }
    return found
  }
}

/// One object with everything that the store has of it.
struct ObjectView {
  private let _reader: StoreReader
  private let _text: ValueText
  private let _labels: EntityLabels
  private let _memberLimit: Int
  private let _width: Int
  private let _contents: ContentDescriptions

  init(
    _ reader: StoreReader, _ zone: TimeZoneText, _ contents: ContentDescriptions, memberLimit: Int, width: Int
  ) {
    (_width, _contents) = (width, contents)
    _reader = reader
    _text = ValueText(reader.layout, zone)
    _labels = EntityLabels(reader.layout)
    _memberLimit = memberLimit
  }

  func text(_ row: StoredRow) throws -> String {
    let entity = _reader.layout.layout(numbered: row.reference.entity)
    let filled = try entity.exchangedSlots.map { (entity.slots[$0].name, try _lines(row, $0, entity)) }
    let empty = filled.filter { $0.1.isEmpty }.map(\.0)
    let width = min(36, filled.filter { !$0.1.isEmpty }.map { TextWidth.of($0.0) }.max() ?? 0)
    var lines = [_text.identifier(row.reference)]
    for (name, contents) in filled where !contents.isEmpty {
      let margin = "  " + name + String(repeating: " ", count: max(0, width - TextWidth.of(name))) + "  "
      lines.append(margin + contents[0])
      lines += contents.dropFirst().map { String(repeating: " ", count: width + 4) + $0 }
    }
    if !empty.isEmpty {
      lines += HelpText(width: _width).wrapped(
        "Without a value: \(empty.joined(separator: ", ")).", indent: 2)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The contents of a property; none for nil.
  private func _lines(_ row: StoredRow, _ slot: Int, _ entity: PropertyLayout) throws -> [String] {
    let property = entity.slots[slot]
    if property.isToMany {
      let members = try _reader.members(of: row.reference, slot: slot)
      var lines = try members.prefix(_memberLimit).map { try _named($0) }
      if members.count > lines.count {
        lines.append("and \(grouped(members.count - lines.count)) more of \(grouped(members.count))")
      }
      return lines
    }
    switch row.values[slot] {
    case .null: return []
    case .reference(let reference): return [try _named(reference)]
    case .data(let data), .transformable(let data):
      let size = counted(data.count, "byte")
      if let text = _contents.text(in: Array(data), of: property.name, in: entity, _reader.layout) {
        return [size] + text.components(separatedBy: "\n")
      }
      return ArchiveJSON.text(Array(data)).map { [size, $0] } ?? [size]
    case .string(""): return ["''"]
    case let value: return (_text.plain(value, of: property.attribute) ?? "").components(separatedBy: "\n")
    }
  }

  /// The object's name with its label.
  private func _named(_ reference: StoredReference) throws -> String {
    let name = _text.identifier(reference)
    guard let row = try _reader.row(reference) else { return name + "  (not in the store)" }
    let entity = _reader.layout.layout(numbered: row.reference.entity)
    guard let label = _labels.attribute(of: entity), let slot = entity.slot(named: label),
      let text = _text.plain(row.values[slot], of: entity.slots[slot].attribute)
    else { return name }
    return name + "  " + TextWidth.truncated(ValueText.onOneLine(text), to: 60)
  }

  func json(_ row: StoredRow) throws -> String {
    let entity = _reader.layout.layout(numbered: row.reference.entity)
    var members = [
      "\"$entity\":\(JSONText.quoted(entity.entityName))",
      "\"$id\":\(JSONText.quoted(_text.identifier(row.reference)))",
    ]
    for slot in entity.exchangedSlots {
      let property = entity.slots[slot]
      let value =
        property.isToMany
        ? _text.json(try _reader.members(of: row.reference, slot: slot))
        : _text.json(row.values[slot], of: property.attribute)
      members.append("\(JSONText.quoted(property.name)):\(value)")
    }
    return "{\(members.joined(separator: ","))}"
  }
}
