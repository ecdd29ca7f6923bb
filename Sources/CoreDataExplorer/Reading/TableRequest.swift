import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// The requested part of an entity's table.
struct TableRequest {
  /// The start of a page.
  enum Start: Sendable, Hashable {
    case first
    case after(TableCursor)
    case before(TableCursor)
    case last
  }

  let entity: PropertyLayout
  /// The predicate as entered; nil for none.
  let filter: String?
  let predicate: NSPredicate?
  let sort: PropertyPath?
  let isAscending: Bool
  let columns: [PropertyPath]
  /// Whether the address names the columns.
  let hasChosenColumns: Bool
  let includesSubentities: Bool
  let rows: Int
  let start: Start
  /// Index of the page's first row in the table, from 0, if the address contains it.
  let ordinal: Int?

  /// Number of default columns of a table.
  static let standardColumns = 12

  /// An invalid part of the address.
  struct Problem: Error, CustomStringConvertible {
    enum Field: Sendable { case filter, sort, columns, page }
    let field: Field
    let description: String
    /// Offset of the error in the filter, in bytes.
    var offset: Int?
    var expected: [String] = []
  }

  /// Reads the fields of an address.
  ///
  /// - Throws: `Problem`.
  init(_ request: HTTPRequest, entity: PropertyLayout, in store: ExploredStore) throws {
    self.entity = entity
    let text = request.query("where")?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    filter = text.isEmpty ? nil : text
    includesSubentities = request.query("exact") == nil
    predicate = try filter.map { try Self._predicate($0, entity, store) }
    (sort, isAscending) = try Self._sort(request.query("sort"), entity, store.layout)
    let all = PropertyPath.all(of: entity, in: store.layout, label: store.labels.attribute(of: entity))
    let standard = Array(all.prefix(Self.standardColumns))
    let texts = request.query.filter { $0.name == "columns" }.flatMap {
      $0.value.split(separator: ",").map(String.init)
    }
    let chosen = try Self._columns(texts, entity, store.layout)
    hasChosenColumns = !chosen.isEmpty && Set(chosen) != Set(standard)
    columns = hasChosenColumns ? chosen : standard
    rows = max(1, min(request.query("rows").flatMap(Int.init) ?? store.limits.rows, store.limits.mostRows))
    start = try Self._start(request)
    ordinal = request.query("n").flatMap(Int.init).flatMap { (0...1_000_000_000_000).contains($0) ? $0 : nil }
  }

  private static func _columns(
    _ texts: [String], _ entity: PropertyLayout, _ layout: ModelLayout
  ) throws -> [PropertyPath] {
    guard texts.count <= 100 else {
      throw Problem(field: .columns, description: "A table has at most 100 columns.")
    }
    do {
      var seen: Set<String> = [PropertyPath.identifier]
      return try texts.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
        !$0.isEmpty && seen.insert($0).inserted
      }
      .map { try PropertyPath($0, of: entity, in: layout) }
    } catch {
      throw Problem(field: .columns, description: "\(error)")
    }
  }

  private static func _predicate(
    _ text: String, _ entity: PropertyLayout, _ store: ExploredStore
  ) throws -> NSPredicate {
    do {
      return try TypedPredicate.predicate(text, of: entity, in: store.layout, objectID: store.objectID)
    } catch let error as NSPredicate.FormatError {
      throw Problem(
        field: .filter, description: error.problem, offset: error.offset, expected: error.expected)
    }
  }

  private static func _sort(
    _ text: String?, _ entity: PropertyLayout, _ layout: ModelLayout
  ) throws -> (PropertyPath?, Bool) {
    guard let text, !text.isEmpty else { return (nil, true) }
    let isAscending = !text.hasPrefix("-")
    let key = isAscending ? text : String(text.dropFirst())
    // By age: the default order, reversed if descending.
    if key == PropertyPath.identifier { return (nil, isAscending) }
    let path: PropertyPath
    do {
      path = try PropertyPath(key, of: entity, in: layout)
    } catch {
      throw Problem(field: .sort, description: "\(error)")
    }
    guard path.isSortable(of: entity) else {
      throw Problem(
        field: .sort, description: "Objects cannot be sorted by '\(key)': its values have no order.")
    }
    return (path, isAscending)
  }

  private static func _start(_ request: HTTPRequest) throws -> Start {
    func cursor(_ name: String) throws -> TableCursor? {
      guard let text = request.query(name) else { return nil }
      guard let cursor = TableCursor(text) else {
        throw Problem(field: .page, description: "'\(text.prefix(80))' is no position in a table.")
      }
      return cursor
    }
    if let cursor = try cursor("after") { return .after(cursor) }
    if let cursor = try cursor("before") { return .before(cursor) }
    return request.query("last") == nil ? .first : .last
  }

  /// The same table, starting at a position.
  func continuing(after cursor: TableCursor?, rows: Int) -> TableRequest {
    TableRequest(self, start: cursor.map(Start.after) ?? .first, rows: rows)
  }

  private init(_ other: TableRequest, start: Start, rows: Int) {
    (entity, filter, predicate, sort) = (other.entity, other.filter, other.predicate, other.sort)
    (isAscending, columns, hasChosenColumns) = (other.isAscending, other.columns, other.hasChosenColumns)
    (includesSubentities, ordinal) = (other.includesSubentities, nil)
    (self.start, self.rows) = (start, rows)
  }

  /// The address of the first page of the same table.
  var place: Place {
    Place(
      "/entity",
      [
        "name": entity.entityName, "where": filter, "sort": sortText,
        "columns": hasChosenColumns ? columns.map(\.text).joined(separator: ",") : nil,
        "exact": includesSubentities ? nil : "1",
      ])
  }

  /// The order in the URL's syntax; nil for the default order.
  var sortText: String? {
    if let sort { return (isAscending ? "" : "-") + sort.text }
    return isAscending ? nil : "-" + PropertyPath.identifier
  }
}
