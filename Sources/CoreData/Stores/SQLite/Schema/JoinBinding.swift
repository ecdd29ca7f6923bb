import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Finds the join tables of a mapping and their columns in a file.
///
/// A table's name and one of its columns identify a relationship; the other column is the one that remains.
/// Its name ends in a number if several columns would have it, and how Core Data counts is not known in every
/// case. Nor is it known after which of two relationships a table is named.
struct JoinBinding {
  private let _mapping: StoreMapping
  private let _connection: Connection
  private let _path: String
  /// Returns the names of a table's columns, in their order; none without such a table.
  private let _columns: (String) throws -> [String]
  private lazy var _naming = JoinNaming(_mapping.layout, _mapping.numbers)

  /// The names that a join table and its columns would have without numbers at their ends.
  private struct Stems {
    let tables: [String]
    let first: String
    let second: String
  }

  /// Columns for the two ends, and how well their names fit.
  private struct Choice {
    let first: String
    let second: String
    let fit: Int
  }

  init(
    _ mapping: StoreMapping, _ connection: Connection, path: String,
    columns: @escaping (String) throws -> [String]
  ) {
    _mapping = mapping
    _connection = connection
    _path = path
    _columns = columns
  }

  /// Returns the join tables with the names of the file.
  ///
  /// - Throws: `StoreOpenError.incompatible`, naming the first table that is missing.
  mutating func bind() throws -> [JoinTable] {
    var joins = _mapping.joins
    for number in joins.indices { joins[number] = try _bind(joins[number], number) }
    return joins
  }

  private mutating func _bind(_ join: JoinTable, _ number: Int) throws -> JoinTable {
    for name in join.names {
      try ForeignSchema.expectTable(StoreVocabulary.plain(name), _connection, path: _path)
      let columns = try _columns(name)
      guard !columns.isEmpty else { continue }
      if let bound = try _bind(join, number, to: name, columns) { return bound }
    }
    if let bound = try _renumbered(join, number) { return bound }
    let wanted = [join.first, join.second] + [join.firstOrder, join.secondOrder].compactMap { $0 }
    throw StoreOpenError.incompatible(
      path: _path,
      reason:
        "no table \(join.names.joined(separator: " or ")) with the columns \(wanted.joined(separator: ", "))")
  }

  private mutating func _bind(
    _ join: JoinTable, _ number: Int, to name: String, _ columns: [String]
  ) throws -> JoinTable? {
    var bound = join
    bound.names = [name]
    let wanted = [join.first, join.second] + [join.firstOrder, join.secondOrder].compactMap { $0 }
    if wanted.allSatisfy({ columns.contains(StoreVocabulary.plain($0)) }) { return bound }
    guard let choice = try _choice(join, _stems(join, number), in: name, columns),
      let (firstOrder, secondOrder) = _orders(join, choice, columns)
    else { return nil }
    bound.first = StoreVocabulary.quoted(choice.first)
    bound.second = StoreVocabulary.quoted(choice.second)
    bound.firstOrder = firstOrder.map(StoreVocabulary.quoted)
    bound.secondOrder = secondOrder.map(StoreVocabulary.quoted)
    return bound
  }

  // MARK: Tables

  /// Finds a table whose name differs by the entity's number, if it is the only one and no other join's.
  private mutating func _renumbered(_ join: JoinTable, _ number: Int) throws -> JoinTable? {
    let stems = _stems(join, number).tables.map(Self._unnumbered)
    let others = Set(_mapping.joins.flatMap(\.names).map(StoreVocabulary.plain))
    var tables: [String] = []
    try _connection.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") {
      tables.append($0.string(0))
    }
    var found: [JoinTable] = []
    for table in tables where !others.contains(table) && stems.contains(Self._unnumbered(table)) {
      try ForeignSchema.expectTable(table, _connection, path: _path)
      let bound = try _bind(join, number, to: StoreVocabulary.quoted(table), _columns(table))
      if let bound { found.append(bound) }
    }
    return found.count == 1 ? found[0] : nil
  }

  private mutating func _stems(_ join: JoinTable, _ number: Int) -> Stems {
    let layout = _mapping.layout.layout(numbered: join.firstEntity)
    let slot = layout.slots.indices.first { slot in
      guard case .manyToMany(number, let ownerIsFirst, _) = _mapping.storage(of: slot, in: join.firstEntity)
      else { return false }
      return ownerIsFirst
    }
    let tables = join.names.map(StoreVocabulary.plain)
    guard let slot else {
      return Stems(
        tables: tables, first: StoreVocabulary.plain(join.first), second: StoreVocabulary.plain(join.second))
    }
    let side = JoinNaming.Side(join.firstEntity, slot)
    let first = "Z_" + _naming.stem(of: side)
    guard !join.isReflexive, let other = _naming.other(of: side) else {
      return Stems(tables: tables, first: first, second: StoreVocabulary.reflexive)
    }
    return Stems(tables: tables, first: first, second: "Z_" + _naming.stem(of: other))
  }

  /// Returns a name without the entity's number after "Z_".
  private static func _unnumbered(_ name: String) -> String {
    String(name.dropFirst(2).drop { $0.isASCII && $0.isNumber })
  }

  // MARK: Columns

  private func _choice(
    _ join: JoinTable, _ stems: Stems, in table: String, _ columns: [String]
  ) throws -> Choice? {
    let keys = columns.filter { !$0.hasPrefix("Z_FOK_") }
    var choices: [Choice] = []
    for first in keys {
      let fit = Self._fit(first, stems.first)
      for second in keys where second != first {
        let other = Self._fit(second, stems.second)
        guard fit > 0, other > 0 else { continue }
        choices.append(Choice(first: first, second: second, fit: fit + other))
      }
    }
    let best = choices.filter { $0.fit == choices.map(\.fit).max() }
    guard best.count > 1 else { return best.first }
    let valid = try best.filter { try _isValid($0, join, in: table) }
    // Core Data puts the column first that references the relationship's owner.
    return valid.count == 1 ? valid[0] : best[0]
  }

  /// Returns how well a column fits: 3 for the name itself, 2 with a number at the end, 1 with the number of
  /// another entity, 0 not at all.
  private static func _fit(_ name: String, _ stem: String) -> Int {
    if name == stem { return 3 }
    if stem == StoreVocabulary.reflexive { return 0 }
    if NumberedColumns.isNumbered(name, stem) { return 2 }
    guard name.hasPrefix("Z_"), _unnumbered(name).count < name.count - 2 else { return 0 }
    return NumberedColumns.isNumbered(_unnumbered(name), _unnumbered(stem)) ? 1 : 0
  }

  /// Whether all pairs reference rows of the right entities.
  private func _isValid(_ choice: Choice, _ join: JoinTable, in table: String) throws -> Bool {
    func isForeign(_ column: String, _ entity: Int) -> String {
      let layout = _mapping.layout.layout(numbered: entity)
      let numbers = layout.family.map { String(_mapping.numbers.stored(for: $0)) }.joined(separator: ", ")
      return "\(StoreVocabulary.quoted(column)) NOT IN "
        + "(SELECT Z_PK FROM \(_mapping.table(of: entity).name) WHERE Z_ENT IN (\(numbers)))"
    }
    let sql =
      "SELECT 1 FROM \(table) WHERE \(isForeign(choice.first, join.firstEntity)) "
      + "OR \(isForeign(choice.second, join.secondEntity)) LIMIT 1"
    return try _connection.firstValue(sql) == nil
  }

  /// Returns the columns with the order of members; nil if one is missing.
  private func _orders(
    _ join: JoinTable, _ choice: Choice, _ columns: [String]
  ) -> (first: String?, second: String?)? {
    var orders = columns.filter { $0.hasPrefix("Z_FOK_") }
    func take(_ key: String) -> String? {
      // Named after its column, unless that has no number of its own: then it is the one that remains.
      let name = "Z_FOK_" + key.dropFirst(2)
      let stem = Self._unnumbered(key)
      let index =
        orders.firstIndex(of: name)
        ?? orders.firstIndex { NumberedColumns.isNumbered(Self._unnumbered("Z_" + $0.dropFirst(6)), stem) }
        ?? (orders.count == 1 ? 0 : nil)
      return index.map { orders.remove(at: $0) }
    }
    var (first, second): (String?, String?)
    if join.firstOrder != nil {
      first = take(choice.first)
      if first == nil { return nil }
    }
    if join.secondOrder != nil {
      second = take(choice.second)
      if second == nil { return nil }
    }
    return (first, second)
  }
}
