import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit

/// Infers entities from the tables of an SQLite database that Core Data did not write.
struct SQLiteInference {
  private struct Column {
    let name: String
    let declaredType: String
    let isRequired: Bool
    let defaultText: String?
    /// Position in the primary key, from 1; 0 for other columns.
    let keyPosition: Int
  }

  private struct ForeignKey {
    let table: String
    let columns: [String]
    let onDelete: String
  }

  private struct Table {
    let name: String
    let columns: [Column]
    let foreignKeys: [ForeignKey]
    let indexes: [(name: String, columns: [String], isUnique: Bool)]

    /// Whether rows are pairs of references, as of a many-to-many relationship, perhaps with a key of their own.
    var isPairs: Bool {
      guard foreignKeys.count == 2, foreignKeys.allSatisfy({ $0.columns.count == 1 }) else { return false }
      let ends = Set(foreignKeys.flatMap(\.columns))
      let others = columns.filter { !ends.contains($0.name) }
      return ends.count == 2 && (others.isEmpty || others.count == 1 && others[0].keyPosition > 0)
    }
  }

  private let _connection: Connection

  /// - Throws: `SQLiteError`.
  init(path: String, hasLog: Bool) throws {
    _connection = try Connection(path: path, mode: hasLog ? .readOnly : .immutable)
  }

  /// Adds the tables to a model.
  ///
  /// - Throws: `SQLiteError`.
  func write(to model: inout InferredModel) throws {
    let tables = try _tables(&model)
    // Rows that others refer to are objects.
    let targets = Set(tables.flatMap(\.foreignKeys).map { $0.table.lowercased() })
    let joins = tables.filter { $0.isPairs && !targets.contains($0.name.lowercased()) }
    let joined = Set(joins.map(\.name))
    let entities = tables.filter { !joined.contains($0.name) }
    for table in entities { _ = model.entity(table.name) }
    for table in entities { try _write(table, &model) }
    let names = Set(entities.map { $0.name.lowercased() })
    for table in entities {
      for key in table.foreignKeys { _relate(table, key, names, &model) }
    }
    for table in joins { _join(table, names, &model) }
    try _connection.query(
      "SELECT type, COUNT(*) FROM sqlite_master WHERE type IN ('view', 'trigger') GROUP BY type"
    ) {
      model.note("\(counted(Int($0.int64(1)), Self._text($0.value(0)) ?? "")): a model has none; left out.")
    }
  }

  // MARK: Reading

  private func _tables(_ model: inout InferredModel) throws -> [Table] {
    var names: [String] = []
    try _connection.query(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ) { row in
      guard case .text(let name) = row.value(0) else { return }
      if case .text(let sql) = row.value(1), sql.uppercased().hasPrefix("CREATE VIRTUAL") {
        model.note("\(name): a virtual table; left out.")
      } else {
        names.append(name)
      }
    }
    // The tables in which virtual ones keep their content; SQLite before 3.37 cannot tell them apart.
    var shadows: Set<String> = []
    try? _connection.query("SELECT name FROM pragma_table_list WHERE type = 'shadow'") { row in
      if case .text(let name) = row.value(0) { shadows.insert(name) }
    }
    return try names.filter { !shadows.contains($0) }.map {
      Table(
        name: $0, columns: try _columns(of: $0), foreignKeys: try _foreignKeys(of: $0),
        indexes: try _indexes(of: $0))
    }
  }

  private func _columns(of table: String) throws -> [Column] {
    var columns: [Column] = []
    try _connection.query(
      "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?)", [.text(table)]
    ) { row in
      columns.append(
        Column(
          name: Self._text(row.value(0)) ?? "", declaredType: Self._text(row.value(1)) ?? "",
          isRequired: row.int64(2) != 0, defaultText: Self._text(row.value(3)), keyPosition: Int(row.int64(4))
        ))
    }
    return columns
  }

  private func _foreignKeys(of table: String) throws -> [ForeignKey] {
    var keys: [(id: Int64, key: ForeignKey)] = []
    try _connection.query(
      "SELECT id, \"table\", \"from\", on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq",
      [.text(table)]
    ) { row in
      let (id, column) = (row.int64(0), Self._text(row.value(2)) ?? "")
      let last = keys.last.flatMap { $0.id == id ? $0.key.columns : nil }
      if last != nil { keys.removeLast() }
      keys.append(
        (
          id,
          ForeignKey(
            table: Self._text(row.value(1)) ?? "", columns: (last ?? []) + [column],
            onDelete: Self._text(row.value(3)) ?? "")
        ))
    }
    // SQLite lists the last one first.
    return keys.map(\.key).reversed()
  }

  private func _indexes(of table: String) throws -> [(name: String, columns: [String], isUnique: Bool)] {
    var found: [(name: String, isUnique: Bool)] = []
    try _connection.query(
      "SELECT name, \"unique\" FROM pragma_index_list(?) WHERE partial = 0 AND origin <> 'pk'", [.text(table)]
    ) { row in found.append((Self._text(row.value(0)) ?? "", row.int64(1) != 0)) }
    return try found.reversed().compactMap { index in
      var columns: [String?] = []
      try _connection.query("SELECT name FROM pragma_index_info(?) ORDER BY seqno", [.text(index.name)]) {
        row in
        columns.append(Self._text(row.value(0)))
      }
      // An expression has no name.
      guard !columns.contains(nil) else { return nil }
      return (index.name, columns.compactMap(\.self), index.isUnique)
    }
  }

  private static func _text(_ value: Binding) -> String? {
    if case .text(let text) = value { text } else { nil }
  }

  // MARK: Writing

  private func _write(_ table: Table, _ model: inout InferredModel) throws {
    let entity = model.entity(table.name)
    let referring = Set(
      table.foreignKeys.filter { $0.columns.count == 1 }.flatMap(\.columns).map { $0.lowercased() })
    var names: [String: String] = [:]
    for column in table.columns where !referring.contains(column.name.lowercased()) {
      let type = try _type(of: column, in: table, named: model.name(of: entity), &model)
      names[column.name.lowercased()] = model.attribute(
        column.name, of: entity, type, isOptional: !column.isRequired && column.keyPosition == 0,
        default: _default(column, type, model.name(of: entity), &model))
    }
    let key = table.columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }
      .compactMap { names[$0.name.lowercased()] }
    let keyCount = table.columns.count { $0.keyPosition > 0 }
    if key.count < keyCount {
      model.note(
        "\(model.name(of: entity)): the primary key has columns that are relationships; no constraint.")
    } else if keyCount > 0 {
      model.constraint(key, of: entity)
      model.note(
        "\(model.name(of: entity)): the primary key \(key.joined(separator: ", ")) is a uniqueness constraint; Core Data has keys of "
          + "its own, so remove it if nothing else refers to it.")
    }
    for index in table.indexes {
      let columns = index.columns.compactMap { names[$0.lowercased()] }
      guard columns.count == index.columns.count else {
        // An index of one reference alone is that of every to-one.
        if index.columns.count > 1 {
          model.note(
            "\(model.name(of: entity)): the \(index.isUnique ? "unique " : "")index \(index.name) has columns that are relationships; "
              + "left out.")
        }
        continue
      }
      if index.isUnique {
        model.constraint(columns, of: entity)
      } else {
        model.index(ModelNaming.property(index.name), columns, of: entity)
      }
    }
  }

  /// The type that is declared, or else that of the values.
  private func _type(
    of column: Column, in table: Table, named entity: String, _ model: inout InferredModel
  ) throws -> AttributeType {
    let declared = column.declaredType.uppercased()
    let known: [(String, AttributeType)] = [
      ("BOOL", .boolean), ("TIMESTAMP", .date), ("DATE", .date), ("UUID", .uuid), ("GUID", .uuid),
      ("URL", .uri),
      ("DEC", .decimal), ("NUMERIC", .decimal), ("MONEY", .decimal), ("SMALLINT", .integer16),
      ("INT2", .integer16),
      ("INT", .integer64), ("CHAR", .string), ("CLOB", .string), ("TEXT", .string), ("BLOB", .binaryData),
      ("BINARY", .binaryData), ("REAL", .double), ("DOUB", .double), ("FLOA", .float), ("JSON", .string),
    ]
    if let (word, type) = known.first(where: { declared.contains($0.0) }) {
      if type == .date {
        model.note(
          "\(entity).\(column.name): declared \(column.declaredType), so a date; look how the values are written."
        )
      } else if word == "DEC" || word == "NUMERIC" || word == "MONEY" {
        model.note("\(entity).\(column.name): declared \(column.declaredType), so a decimal.")
      }
      return type
    }
    var types: Set<String> = []
    let (quoted, source) = (Self._quoted(column.name), Self._quoted(table.name))
    try _connection.query(
      "SELECT DISTINCT typeof(\(quoted)) FROM (SELECT \(quoted) FROM \(source) WHERE \(quoted) IS NOT NULL LIMIT 10000)"
    ) { row in if let type = Self._text(row.value(0)) { types.insert(type) } }
    let type: AttributeType =
      switch types {
      case ["integer"]: .integer64
      case ["real"], ["real", "integer"]: .double
      case ["blob"]: .binaryData
      default: .string
      }
    let values = types.isEmpty ? "no values" : types.sorted().joined(separator: " and ") + " values"
    model.note(
      "\(entity).\(column.name): declared \(declared.isEmpty ? "without a type" : column.declaredType), with \(values); taken for "
        + "\(type.fileName).")
    return type
  }

  private static func _quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

  private func _default(
    _ column: Column, _ type: AttributeType, _ entity: String, _ model: inout InferredModel
  ) -> SchemaLiteral? {
    guard let text = column.defaultText, text.uppercased() != "NULL" else { return nil }
    let value: SchemaLiteral? =
      switch type {
      case .integer16, .integer32, .integer64: Int64(text).map { .integer($0) }
      case .double, .float: Double(text).map { .double($0) }
      case .decimal: Double(text).map { _ in .decimal(text) }
      case .boolean:
        ["1": true, "TRUE": true, "0": false, "FALSE": false][text.uppercased()].map { .boolean($0) }
      case .string where text.count >= 2 && text.hasPrefix("'") && text.hasSuffix("'"):
        .string(String(text.dropFirst().dropLast()).replacing("''", with: "'"))
      default: nil
      }
    if value == nil {
      model.note("\(entity).\(column.name): the default \(text) has no place in a model; left out.")
    }
    return value
  }

  private func _relate(_ table: Table, _ key: ForeignKey, _ names: Set<String>, _ model: inout InferredModel)
  {
    let owner = model.entity(table.name)
    guard key.columns.count == 1, names.contains(key.table.lowercased()) else {
      model.note(
        "\(model.name(of: owner)): the foreign key (\(key.columns.joined(separator: ", "))) to \(key.table) is no relationship; its "
          + "columns are attributes.")
      return
    }
    let column = key.columns[0]
    let isRequired = table.columns.first { $0.name.lowercased() == column.lowercased() }?.isRequired ?? false
    let isUnique = table.indexes.contains {
      $0.isUnique && $0.columns.map { $0.lowercased() } == [column.lowercased()]
    }
    let name = model.name(of: owner)
    model.relationship(
      Self._withoutID(column), from: owner, to: model.entity(_spelled(key.table, model)), isToMany: false,
      isOptional: !isRequired, inverse: isUnique ? name : ModelNaming.members(name),
      inverseIsToMany: !isUnique,
      inverseDeleteRule: key.onDelete.uppercased() == "CASCADE"
        ? .cascade : key.onDelete.uppercased() == "RESTRICT" ? .deny : .nullify)
  }

  private func _join(_ table: Table, _ names: Set<String>, _ model: inout InferredModel) {
    let (one, other) = (table.foreignKeys[0], table.foreignKeys[1])
    guard names.contains(one.table.lowercased()), names.contains(other.table.lowercased()) else {
      model.note("\(table.name): refers to tables that are not there; left out.")
      return
    }
    let (first, second) = (
      model.entity(_spelled(one.table, model)), model.entity(_spelled(other.table, model))
    )
    model.note("\(table.name): rows are pairs of references, so a many-to-many relationship.")
    model.relationship(
      ModelNaming.members(Self._withoutID(other.columns[0])), from: first, to: second, isToMany: true,
      inverse: ModelNaming.members(Self._withoutID(one.columns[0])), inverseIsToMany: true)
  }

  /// `author_id` as `author`.
  private static func _withoutID(_ column: String) -> String {
    for ending in ["_id", "_ID", "Id", "ID"] where column.hasSuffix(ending) && column.count > ending.count {
      return String(column.dropLast(ending.count))
    }
    return column
  }

  /// A table as its definition spells it: names in SQL have no case.
  private func _spelled(_ table: String, _ model: InferredModel) -> String {
    model.source(like: table) ?? table
  }
}
