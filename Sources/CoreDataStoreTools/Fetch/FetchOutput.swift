import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// Writes the results of a fetch in one of the formats.
struct FetchOutput {
  enum Form: String, CaseIterable { case table, json, ndjson, csv }

  private let _columns: [FetchColumn]
  private let _reader: StoreReader
  private let _text: ValueText
  private let _dropsEmpty: Bool
  private let _total: Int?
  /// Default number of objects in a table on a terminal.
  static let screenLimit = 100
  /// Number of rows written at once if the output is not a terminal.
  private static let _batch = 500

  /// - Parameters:
  ///   - dropsEmpty: Whether to omit empty columns of a table.
  ///   - total: Total number of objects, if only some are shown.
  init(
    _ columns: [FetchColumn], _ reader: StoreReader, _ zone: TimeZoneText, dropsEmpty: Bool, total: Int? = nil
  ) {
    _columns = columns
    _total = total
    _dropsEmpty = dropsEmpty
    _reader = reader
    _text = ValueText(reader.layout, zone)
  }

  func write(_ found: [StoredReference], as form: Form, _ environment: ToolEnvironment) throws {
    let sink = FileSink(standardOutputOf: environment)
    switch form {
    case .table where environment.outputTerminal.isInteractive || found.count <= Self._batch:
      try sink.write(try _table(found, environment.outputTerminal))
    case .table: try _longTable(found, sink)
    case .json: try _json(found, sink)
    case .ndjson: try _each(found) { try sink.write(try _object($0) + "\n") }
    case .csv:
      try sink.write(CSVText.line(_columns.map(\.title)))
      try _each(found) { row in try sink.write(CSVText.line(try _columns.map { try _field($0, row) })) }
    }
    try sink.flush()
  }

  private func _each(_ found: some Sequence<StoredReference>, _ body: (StoredRow) throws -> Void) throws {
    for reference in found {
      // Another process has deleted it meanwhile.
      guard let row = try _reader.row(reference) else { continue }
      try body(row)
    }
  }

  private func _json(_ found: [StoredReference], _ sink: FileSink) throws {
    var isFirst = true
    try sink.write("[")
    try _each(found) { row in
      try sink.write((isFirst ? "\n  " : ",\n  ") + (try _object(row)))
      isFirst = false
    }
    try sink.write(isFirst ? "]\n" : "\n]\n")
  }

  private func _object(_ row: StoredRow) throws -> String {
    let members = try _columns.map { column in
      let value =
        switch try column.cell(row, _reader) {
        case .value(let value, let attribute): _text.json(value, of: attribute)
        case .members(let members): _text.json(members)
        }
      return "\(JSONText.quoted(column.title)):\(value)"
    }
    return "{\(members.joined(separator: ","))}"
  }

  private func _field(_ column: FetchColumn, _ row: StoredRow) throws -> String? {
    switch try column.cell(row, _reader) {
    case .value(let value, let attribute): _text.plain(value, of: attribute)
    case .members(let members): members.map(_text.identifier).joined(separator: ";")
    }
  }

  // MARK: Tables

  private typealias Shown = (text: String, isNumber: Bool)

  private func _rows(_ found: some Sequence<StoredReference>) throws -> [[Shown]] {
    var rows: [[Shown]] = []
    try _each(found) { row in rows.append(try _columns.map { try _shown($0, row) }) }
    return rows
  }

  /// The table's columns with these indices, aligned for the rows.
  private func _tableColumns(_ kept: [Int], _ rows: [[Shown]]) -> [TextTable.Column] {
    kept.map { index in
      // A column of numbers is right-aligned, even with missing values.
      let isNumeric =
        rows.contains { $0[index].isNumber }
        && rows.allSatisfy { $0[index].isNumber || $0[index].text.isEmpty }
      return TextTable.Column(_columns[index].title, isNumeric ? .right : .left)
    }
  }

  private func _table(_ found: [StoredReference], _ terminal: Terminal) throws -> String {
    guard !found.isEmpty else { return "No objects.\n" }
    let rows = try _rows(found)
    // Omits empty columns unless they were requested.
    let kept = _columns.indices.filter { index in !_dropsEmpty || rows.contains { !$0[index].text.isEmpty } }
    var table = TextTable(_tableColumns(kept, rows))
    for row in rows { table.add(kept.map { TextTable.Cell(row[$0].text) }) }
    var end = [counted(rows.count, "object") + "."]
    if let _total, _total > found.count {
      end = ["The first \(grouped(rows.count)) of \(counted(_total, "object")); '--limit N' shows more."]
    }
    let empty = _columns.count - kept.count
    if empty > 0 { end.append("\(counted(empty, "column")) without any value left out.") }
    guard terminal.isInteractive else {
      return table.text(usesColor: false) + end.joined(separator: " ") + "\n"
    }
    let (fitted, dropped) = table.fitted(to: terminal.width)
    if !dropped.isEmpty {
      let others = dropped.count - 6
      let names = dropped.prefix(others > 1 ? 6 : dropped.count).joined(separator: ", ")
      end.append(
        "No room for \(names)\(others > 1 ? " and \(others) more" : ""): '--columns' chooses, '--format json' has all."
      )
    }
    let words = HelpText(width: terminal.width).wrapped(end.joined(separator: " "), indent: 0)
    return fitted.text(usesColor: terminal.usesColor) + words.joined(separator: "\n") + "\n"
  }

  /// A table for another program, written incrementally: the first rows determine the widths, and all columns
  /// are included.
  private func _longTable(_ found: [StoredReference], _ sink: FileSink) throws {
    var widths: [Int]?
    var columns: [TextTable.Column] = []
    var count = 0
    for start in stride(from: 0, to: found.count, by: Self._batch) {
      let rows = try _rows(found[start..<min(start + Self._batch, found.count)])
      if widths == nil { columns = _tableColumns(Array(_columns.indices), rows) }
      var table = TextTable(columns)
      for row in rows { table.add(row.map { TextTable.Cell($0.text) }) }
      if widths == nil {
        try sink.write(table.text(usesColor: false))
      } else {
        try sink.write(table.lines(widths: widths ?? []))
      }
      widths = widths ?? table.widths
      count += rows.count
      try sink.flush()
    }
    try sink.write(counted(count, "object") + ".\n")
  }

  private func _shown(_ column: FetchColumn, _ row: StoredRow) throws -> (text: String, isNumber: Bool) {
    switch try column.cell(row, _reader) {
    case .value(let value, let attribute):
      let isNumber =
        switch value {
        case .integer, .double, .decimal: true
        default: false
        }
      return (_text.shown(value, of: attribute), isNumber)
    case .members(let members): return (String(members.count), true)
    }
  }
}
