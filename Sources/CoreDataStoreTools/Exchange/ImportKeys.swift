import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit

/// Maps the objects of an import to rows: names from the input to primary keys, in a temporary database, so
/// that millions of objects need no memory.
///
/// Filled in a first pass over the input, then queried.
final class ImportKeys {
  private let _layout: ModelLayout
  private let _names: Connection
  /// Whether names such as `Book/p17` keep their key: in a store without rows.
  private let _keepsKeys: Bool
  /// Highest key in a name, by root.
  private var _highest: [Int: Int64] = [:]
  /// Number of objects that receive new keys, by root.
  private var _unkeyed: [Int: Int] = [:]
  /// First of the new keys, by root.
  private var _first: [Int: Int64] = [:]
  private static let _insert = SQLText(
    "INSERT INTO names (name, root, entity, key, ordinal) VALUES (?, ?, ?, ?, ?)")
  private static let _find = SQLText("SELECT entity, key, ordinal, root FROM names WHERE name = ?")
  private static let _taken = SQLText("SELECT 1 FROM names WHERE root = ? AND key = ?")

  /// - Throws: `SQLiteError`.
  init(_ layout: ModelLayout, keepsKeys: Bool) throws {
    _layout = layout
    _keepsKeys = keepsKeys
    // An empty path denotes a temporary database, which SQLite deletes when it is closed.
    _names = try Connection(path: "", mode: .create)
    try _names.execute(
      """
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      CREATE TABLE names (name TEXT NOT NULL UNIQUE, root INTEGER, entity INTEGER, key INTEGER, ordinal INTEGER);
      CREATE INDEX keys ON names (root, key) WHERE key IS NOT NULL;
      BEGIN
      """)
  }

  /// Adds an object of the first pass.
  ///
  /// - Returns: False if another object has the same name.
  func add(_ name: String?, _ entity: PropertyLayout) throws -> Bool {
    let root = entity.rootNumber
    guard let name else {
      _unkeyed[root, default: 0] += 1
      return true
    }
    var key = _keepsKeys ? Self.key(in: name, of: entity.entityName) : nil
    if let wanted = key, try _isTaken(root, wanted) { key = nil }
    do {
      try _names.withStatement(Self._insert) { statement in
        statement.bind(.text(name), at: 1)
        statement.bind(Int64(root), at: 2)
        statement.bind(Int64(entity.entityNumber), at: 3)
        statement.bind(key.map { .int($0) } ?? .null, at: 4)
        statement.bind(key == nil ? .int(Int64(_unkeyed[root] ?? 0)) : .null, at: 5)
        try statement.run()
      }
    } catch let error as SQLiteError where error.isUniqueViolation {
      return false
    }
    if let key { _highest[root] = max(_highest[root] ?? 0, key) } else { _unkeyed[root, default: 0] += 1 }
    return true
  }

  private func _isTaken(_ root: Int, _ key: Int64) throws -> Bool {
    try _names.withStatement(Self._taken) { statement in
      statement.bind(Int64(root), at: 1)
      statement.bind(key, at: 2)
      return try statement.step()
    }
  }

  /// The key in a name such as `Book/p17`.
  static func key(in name: String, of entity: String) -> Int64? {
    guard name.hasPrefix(entity + "/p"), let key = Int64(name.dropFirst(entity.count + 2)), key > 0,
      key < Int64.max / 2
    else { return nil }
    return key
  }

  /// Ends the first pass: reserves keys for objects whose names contain none.
  func finish(_ writer: StoreWriter) throws {
    for (root, count) in _unkeyed {
      _first[root] =
        _keepsKeys ? (_highest[root] ?? 0) + 1 : try writer.reserveKeys(count, of: root)
    }
  }

  /// Returns the row of a name; nil for a name that the input lacks.
  func reference(_ name: String) throws -> StoredReference? { try _find(name)?.reference }

  private func _find(_ name: String) throws -> (reference: StoredReference, isHandedOut: Bool)? {
    try _names.withStatement(Self._find) { statement in
      statement.bind(.text(name), at: 1)
      guard try statement.step() else { return nil }
      let entity = Int(statement.int64(0))
      if !statement.isNull(1) { return (StoredReference(entity: entity, key: statement.int64(1)), false) }
      let first = _first[Int(statement.int64(3))] ?? 1
      return (StoredReference(entity: entity, key: first + statement.int64(2)), true)
    }
  }

  /// Assigns rows to the objects of another pass over the input, in the order of the first.
  struct Run {
    private let _keys: ImportKeys
    private var _handedOut: [Int: Int64] = [:]

    init(_ keys: ImportKeys) { _keys = keys }

    mutating func reference(_ name: String?, _ entity: PropertyLayout) throws -> StoredReference {
      let root = entity.rootNumber
      if let name, let found = try _keys._find(name) {
        if found.isHandedOut { _handedOut[root, default: 0] += 1 }
        return found.reference
      }
      let ordinal = _handedOut[root, default: 0]
      _handedOut[root] = ordinal + 1
      return StoredReference(entity: entity.entityNumber, key: (_keys._first[root] ?? 1) + ordinal)
    }
  }
}
