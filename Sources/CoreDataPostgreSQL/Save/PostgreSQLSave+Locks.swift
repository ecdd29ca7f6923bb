import CoreData
import CoreDataPostgreSQLBinding

// Locks the rows that a save touches before writing, and checks their versions.

extension PostgreSQLSave {
  /// A row with the version that the save expects.
  private struct Expectation {
    let id: NSManagedObjectID
    let base: Row
    /// The update for which the row is locked, if it is one.
    var update: ChangeSet.Update?
  }

  /// Locks all rows that the save touches. All savers lock in the same order, which prevents deadlocks. Updates that do
  /// not conflict with the newer version of their row are rebased on it.
  ///
  /// - Parameter deletes: Whether rows may be deleted right away if nothing else of their table is touched;
  ///   deleting a row locks it.
  /// - Returns: Rows in another state than the save expects.
  func lockRows(deletes: Bool) throws -> [VersionConflict] {
    var expected: [Int: [Expectation]] = [:]
    var mixed: Set<Int> = []
    for update in changes.updated {
      let root = try layout(of: update.id).rootNumber
      mixed.insert(root)
      expected[root, default: []].append(Expectation(id: update.id, base: update.base, update: update))
    }
    for lock in changes.locked {
      let root = try layout(of: lock.id).rootNumber
      mixed.insert(root)
      expected[root, default: []].append(Expectation(id: lock.id, base: lock.base))
    }
    for deletion in changes.deleted {
      let root = try layout(of: deletion.id).rootNumber
      expected[root, default: []].append(Expectation(id: deletion.id, base: deletion.base))
    }
    var conflicts: [VersionConflict] = []
    for (root, objects) in expected.sorted(by: { $0.key < $1.key }) {
      let isDeletion = deletes && !mixed.contains(root)
      if isDeletion { deletedRoots.insert(root) }
      var changed = try isDeletion ? _delete(objects, root) : _lock(objects, root)
      while !changed.isEmpty {
        var unchanged: [Expectation] = []
        let stored = try engine.rows(for: changed.map { $0.id.key! }, on: connection)
        for (object, row) in zip(changed, stored) {
          if let row, let update = object.update {
            if engine.ownerRules.allow(update, over: row) || _isUnchanged(object, row) {
              rebase(update, on: row)
              continue
            }
          } else if let row, _isUnchanged(object, row) {
            unchanged.append(Expectation(id: object.id, base: row))
            continue
          }
          conflicts.append(VersionConflict(id: object.id, base: object.base, persisted: row))
        }
        changed = isDeletion ? try _delete(unchanged, root) : []
      }
    }
    return conflicts
  }

  /// Whether a row is as it was read, from another history of the database.
  private func _isUnchanged(_ object: Expectation, _ row: Row) -> Bool {
    let timeline = connection.timeline
    return PostgreSQLVersion.expected(object.base.version, on: timeline) < 0
      && _sameVersion(object.base, row, timeline)
      && engine.ownerRules.haveSameValues(object.base, row, object.id.space.layout)
  }

  private func _sameVersion(_ base: Row, _ row: Row, _ timeline: Int64) -> Bool {
    PostgreSQLVersion.stored(base.version, on: timeline)
      == PostgreSQLVersion.stored(row.version, on: timeline)
  }

  /// Returns the insertions that have a row: of those that insert a row again which another context has deleted, only
  /// the first inserts it.
  func rowsInsertedAgain() throws -> [VersionConflict] {
    let insertions = changes.inserted.filter { $0.id.key != nil }
    if insertions.isEmpty { return [] }
    let stored = try engine.rows(for: insertions.map { $0.id.key! }, on: connection)
    return zip(insertions, stored).compactMap { insertion, row in
      row.map { VersionConflict(id: insertion.id, base: insertion.row, persisted: $0) }
    }
  }

  /// Locks rows, and returns those that are in another version or deleted.
  private func _lock(_ objects: [Expectation], _ root: Int) throws -> [Expectation] {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(objects.compactMap { $0.id.key?.reference }))
    let keys = objects.count == 1 ? "= ($1::int8[])[1]" : "= ANY($1::int8[]) ORDER BY \"id\""
    let table = mapping.table(of: root).name
    let found = try connection.run(
      "SELECT \"id\", \"version\" FROM \(table) WHERE \"id\" \(keys) FOR UPDATE", parameters)
    var versions: [Int64: Int64] = [:]
    versions.reserveCapacity(found.rowCount)
    for row in 0..<found.rowCount {
      versions[found.int64(row, 0)] = PostgreSQLVersion.read(found.int64(row, 1), on: found.timeline)
    }
    return objects.filter { object in
      object.id.key.map { versions[$0.reference] != object.base.version } ?? false
    }
  }

  /// Deletes rows, and returns those that are in another version or already deleted.
  private func _delete(_ objects: [Expectation], _ root: Int) throws -> [Expectation] {
    if objects.isEmpty { return [] }
    // In key order, in which the server looks them up unless they are a large part of the table.
    let sorted = objects.compactMap { object in
      object.id.key.map {
        ($0.reference, PostgreSQLVersion.expected(object.base.version, on: connection.timeline))
      }
    }
    .sorted { $0.0 < $1.0 }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(sorted.map(\.0)))
    parameters.add(PostgreSQLArray(sorted.map(\.1)))
    let deletion = "DELETE FROM \(mapping.table(of: root).name)"
    let found = try connection.run(
      sorted.count == 1
        ? "\(deletion) WHERE \"id\" = ($1::int8[])[1] AND \"version\" = ($2::int8[])[1] RETURNING \"id\""
        : """
        \(deletion) t USING unnest($1::int8[], $2::int8[]) AS n(k, v) \
        WHERE t."id" = n.k AND t."version" = n.v RETURNING t."id"
        """, parameters)
    if found.rowCount == sorted.count { return [] }
    let deleted = Set((0..<found.rowCount).map { found.int64($0, 0) })
    return objects.filter { object in object.id.key.map { !deleted.contains($0.reference) } ?? false }
  }
}
