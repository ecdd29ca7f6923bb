import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// The numbers by which the rows of a store name their entities, kept in the table `_type`.
///
/// A number is given once, and neither changed nor given again: programs with different versions of a model
/// read and write the same rows.
struct PostgreSQLTypes: Equatable {
  /// The numbers of the entities that the store has now.
  private(set) var numbers: [String: Int] = [:]
  /// The numbers of entities that the newest version has not, whose rows the store keeps for programs with earlier ones.
  private var _hidden: [String: Int] = [:]
  /// The largest number ever given.
  private var _largest = 0

  static func table(_ schema: String) -> String { "\(PostgreSQLNames.quoted(schema)).\"_type\"" }

  /// Creates the numbers of a new store, in the order of the names.
  init(_ layout: ModelLayout) {
    for layout in layout.layouts { numbers[layout.entityName] = layout.entityNumber }
    _largest = layout.layouts.count
  }

  /// Reads the numbers of a store; nil for one that has none yet, written by an older version of the package.
  init?(_ connection: PostgreSQLConnection, schema: String) throws {
    guard try PostgreSQLEpochs.areThere(connection, schema: schema) else { return nil }
    let found = try connection.run(
      """
      SELECT t."number", t."name", t."retired", t."retired" > e."writes_from" \
      FROM \(Self.table(schema)) t, \(PostgreSQLEpochs.table(schema)) e
      """, isRepeated: false)
    for row in 0..<found.rowCount {
      let (number, name) = (Int(clamping: found.int64(row, 0)), found.string(row, 1))
      _largest = max(_largest, number)
      if found.isNull(row, 2) {
        numbers[name] = number
      } else if found.int64(row, 3) != 0 {
        _hidden[name] = number
      }
    }
  }

  /// Returns the numbers of a model's entities.
  ///
  /// - Throws: `PostgreSQLStoreError.incomplete` if the store has no number for one of them.
  func numbers(for layout: ModelLayout, schema: String) throws -> EntityNumbers {
    let numbers = numbers.merging(_hidden) { present, _ in present }
    let missing = layout.layouts.map(\.entityName).filter { numbers[$0] == nil }
    guard missing.isEmpty else {
      throw PostgreSQLStoreError.incomplete(
        schema: schema, missing: missing.map { "the table '_type' has no number for the entity \($0)" })
    }
    return EntityNumbers(stored: layout.layouts.map { numbers[$0.entityName]! })
  }

  /// Returns the numbers after a migration: entities keep theirs, under their new names, and new ones follow. One that has
  /// come back takes up that of its rows, if the store has them.
  ///
  /// - Throws: `PostgreSQLStoreError.model` if the numbers are used up.
  func migrated(_ matching: SchemaMatching, to layout: ModelLayout) throws -> PostgreSQLTypes {
    var result = self
    result.numbers = [:]
    var taken = Set<Int>()
    for layout in layout.layouts {
      // Of several entities with one source, only the first has its number.
      if let number = matching.source(of: layout.entityName).flatMap({ numbers[$0] }),
        taken.insert(number).inserted
      {
        result.numbers[layout.entityName] = number
      }
    }
    for layout in layout.layouts where result.numbers[layout.entityName] == nil {
      if let number = result._hidden.removeValue(forKey: layout.entityName) {
        result.numbers[layout.entityName] = number
        continue
      }
      result._largest += 1
      guard result._largest <= Int(Int16.max) else {
        throw PostgreSQLStoreError.model(
          entity: layout.entityName, property: nil,
          reason: "the store has had \(Int16.max) entities, which is as many as it can number")
      }
      result.numbers[layout.entityName] = result._largest
    }
    return result
  }

  // MARK: Writing

  /// Returns the statements that write the numbers of a new store.
  func statements(_ schema: String) -> [String] {
    numbers.sorted { $0.value < $1.value }.map { name, number in
      "INSERT INTO \(Self.table(schema)) (\"number\", \"name\", \"since\") "
        + "VALUES (\(number), \(PostgreSQLNames.literal(name)), 1)"
    }
  }

  /// Writes what differs from the numbers before, inside a migration's transaction.
  ///
  /// - Parameter epoch: The number of the model's new version.
  func write(over former: PostgreSQLTypes, epoch: Int64, to connection: PostgreSQLConnection, schema: String)
    throws
  {
    let table = Self.table(schema)
    let (before, after) = (Self._names(former), Self._names(self))
    for (number, name) in before.sorted(by: { $0.key < $1.key }) where after[number] != name {
      let change =
        after[number].map { "\"name\" = \(PostgreSQLNames.literal($0))" } ?? "\"retired\" = \(epoch)"
      try connection.execute("UPDATE \(table) SET \(change) WHERE \"number\" = \(number)")
    }
    for (number, name) in after.sorted(by: { $0.key < $1.key }) where before[number] == nil {
      try connection.execute(
        "INSERT INTO \(table) (\"number\", \"name\", \"since\") "
          + "VALUES (\(number), \(PostgreSQLNames.literal(name)), \(epoch)) "
          + "ON CONFLICT (\"number\") DO UPDATE SET \"retired\" = NULL")
    }
  }

  private static func _names(_ types: PostgreSQLTypes) -> [Int: String] {
    Dictionary(types.numbers.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
  }
}
