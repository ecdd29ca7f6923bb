import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The contents of a table, all pages of it, as a file: complete values, bytes in base64.
struct ExportAnswer {
  enum Form: String, CaseIterable, Sendable {
    case csv, json, ndjson

    fileprivate var _type: String {
      switch self {
      case .csv: "text/csv; charset=utf-8"
      case .json: "application/json"
      case .ndjson: "application/x-ndjson"
      }
    }
  }

  private let _visit: Visit
  private let _entity: PropertyLayout
  private let _form: Form

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
    guard let form = visit.request.query("as").flatMap(Form.init(rawValue:)) else {
      throw Router.Missing(what: "This export format is unknown. Use csv, json or ndjson.")
    }
    _form = form
  }

  func answer() throws -> HTTPResponse {
    let store = _visit.store
    let request = try TableRequest(_visit.request, entity: _entity, in: store)
    let rows = ExportRows(request, store, _form, _visit.request.client, try store.exports.acquire())
    // A failure before the first piece gets a page; later failures cut the connection.
    try rows.begin()
    let name = _entity.entityName.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return HTTPResponse(
      headers: SecurityHeaders.bytes + [
        ("Content-Type", _form._type),
        (
          "Content-Disposition",
          "attachment; filename=\"\(name.isEmpty ? "objects" : name).\(_form.rawValue)\""
        ),
      ], body: .stream { try rows.next() })
  }
}

/// The rows of an export, a few hundred at a time.
private final class ExportRows: @unchecked Sendable {
  // Unchecked: used on the connection's thread only, one piece after the other.
  private let _request: TableRequest
  private let _store: ExploredStore
  private let _form: ExportAnswer.Form
  private let _budget: QueryBudget
  private let _text: ValueText
  private var _cursor: TableCursor?
  private var _count = 0
  private var _isFirst = true
  private var _isOver = false
  private var _begin: [UInt8]?
  private let _place: Places.Place

  private static let _batch = 250

  init(
    _ request: TableRequest, _ store: ExploredStore, _ form: ExportAnswer.Form, _ client: HTTPClient,
    _ place: Places.Place
  ) {
    (_request, _store, _form, _place) = (request, store, form, place)
    _budget = QueryBudget(seconds: store.limits.exportSeconds, client: client)
    _text = ValueText(store.layout)
  }

  /// Reads the first piece.
  func begin() throws { _begin = try next() }

  /// The next piece; nil at the end.
  func next() throws -> [UInt8]? {
    if let begin = _begin {
      _begin = nil
      return begin
    }
    if _isOver { return nil }
    var text = _isFirst ? _head : ""
    let batch = _request.continuing(after: _cursor, rows: Self._batch)
    let context = _store.context()
    var search = TableKeys(batch, _store, context)
    let (keys, hasMore) = try _budget.run { try search.page() }
    try _store.readers.read(_budget) { reader in
      let columns = try ([PropertyPath.identifier] + _request.columns.map(\.text)).map {
        try FetchColumn($0, of: _request.entity, in: reader.layout)
      }
      let rows = CellQuery(_store, reader, _request.entity, [], sort: _request.sort, textLimit: 1)
      for row in try rows.rows(keys) {
        let reference = StoredReference(entity: row.entity ?? _request.entity.entityNumber, key: row.key)
        guard let stored = try reader.row(reference) else { continue }
        text += try _row(stored, columns, reader)
        _isFirst = false
        _cursor = TableCursor(key: row.key, value: _request.sort == nil ? .null : row.sortValue)
      }
    }
    _isFirst = false
    _count += keys.count
    if _count > _store.limits.exportedRows { throw QueryBudget.Exceeded.rows(_store.limits.exportedRows) }
    if !hasMore {
      _isOver = true
      if _form == .json { text += _count == 0 ? "]\n" : "\n]\n" }
    }
    return Array(text.utf8)
  }

  private var _head: String {
    switch _form {
    case .csv: CSVText.line([PropertyPath.identifier] + _request.columns.map(\.text))
    case .json: "["
    case .ndjson: ""
    }
  }

  private func _row(_ row: StoredRow, _ columns: [FetchColumn], _ reader: StoreReader) throws -> String {
    switch _form {
    case .csv: CSVText.line(try columns.map { try _field($0, row, reader) })
    case .json: (_isFirst ? "\n  " : ",\n  ") + (try _object(row, columns, reader))
    case .ndjson: try _object(row, columns, reader) + "\n"
    }
  }

  private func _field(_ column: FetchColumn, _ row: StoredRow, _ reader: StoreReader) throws -> String? {
    switch try column.cell(row, reader) {
    case .value(let value, let attribute): _text.plain(value, of: attribute)
    case .members(let members): members.map(_text.identifier).joined(separator: ";")
    }
  }

  private func _object(_ row: StoredRow, _ columns: [FetchColumn], _ reader: StoreReader) throws -> String {
    let members = try columns.map { column in
      let value =
        switch try column.cell(row, reader) {
        case .value(let value, let attribute): _text.json(value, of: attribute)
        case .members(let members): _text.json(members)
        }
      return "\(JSONText.quoted(column.title)):\(value)"
    }
    return "{\(members.joined(separator: ","))}"
  }
}
