import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// Derived attributes.

extension PostgreSQLSave {
  /// Returns the current rows with computed values: those that the save wrote itself, and those that triggers
  /// report.
  func computedRows() throws -> [StoredObject] {
    let computed = try _computedRows()
    if connection.timeline == 0 { return computed }
    // Their versions in memory are of the history that has them.
    let known = Set(computed.lazy.map(\.key))
    return computed
      + changes.inserted.indices.compactMap { index in
        let (id, row) = (changes.inserted[index].id, changes.inserted[index].row)
        let key = ObjectKey(
          space: engine.spaces[id.space.layout.entityNumber - 1], reference: insertedKeys[index])
        if known.contains(key) { return nil }
        let version = PostgreSQLVersion.read(row.version, on: connection.timeline)
        return StoredObject(key: key, row: Row(copying: row, version: version))
      }
  }

  private func _computedRows() throws -> [StoredObject] {
    let derivations = engine.derivations
    guard changes.inserted.count + changes.updated.count + changes.deleted.count > 0,
      mapping.layout.layouts.contains(where: { derivations.computes($0.entityNumber) })
    else { return [] }
    var keys: [ObjectKey] = []
    var known = Set<ObjectKey>()
    func record(_ number: Int, _ reference: Int64) {
      let key = ObjectKey(space: engine.spaces[number - 1], reference: reference)
      if known.insert(key).inserted { keys.append(key) }
    }
    for (index, insertion) in changes.inserted.enumerated() {
      let number = insertion.id.space.layout.entityNumber
      if !derivations.own[number - 1].isEmpty { record(number, insertedKeys[index]) }
    }
    for update in changes.updated {
      let number = update.id.space.layout.entityNumber
      guard let key = update.id.key, !derivations.own(of: number, changed: update.changed).isEmpty else {
        continue
      }
      record(number, key.reference)
    }
    if !derivations.distant.isEmpty {
      let found = try connection.run(
        "SELECT pg_catalog.current_setting('\(PostgreSQLTriggers.report)', true)")
      if found.rowCount > 0, !found.isNull(0, 0) {
        for pair in found.string(0, 0).split(separator: ",") {
          let parts = pair.split(separator: ":")
          guard parts.count == 2, let number = Int64(parts[0]).flatMap(mapping.numbers.number(forStored:)),
            let reference = Int64(parts[1])
          else { continue }
          record(number, reference)
        }
      }
    }
    if keys.isEmpty { return [] }
    return try zip(keys, engine.rows(for: keys, on: connection)).compactMap { key, row in
      row.map { StoredObject(key: key, row: $0) }
    }
  }
}
