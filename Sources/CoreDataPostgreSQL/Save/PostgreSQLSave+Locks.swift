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
    for update in changes.updated {
      let root = try layout(of: update.id).rootNumber
      expected[root, default: []].append(Expectation(id: update.id, base: update.base, update: update))
    }
    for lock in changes.locked {
      let root = try layout(of: lock.id).rootNumber
      expected[root, default: []].append(Expectation(id: lock.id, base: lock.base))
    }
    var deletions: [Int: [ChangeSet.Deletion]] = [:]
    for (root, those) in try _deletionsByRoot() {
      if deletes, expected[root] == nil {
        deletions[root] = those
        deletedRoots.insert(root)
      } else {
        expected[root, default: []] += those.map { Expectation(id: $0.id, base: $0.base) }
      }
    }
    var conflicts: [VersionConflict] = []
    for root in Set(expected.keys).union(deletions.keys).sorted() {
      let isDeletion = deletions[root] != nil
      var changed =
        try deletions[root].map { try _delete($0, root) } ?? _lock(expected[root] ?? [], root)
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
        changed =
          isDeletion
          ? try _delete(unchanged.map { ChangeSet.Deletion(id: $0.id, base: $0.base) }, root) : []
      }
    }
    return conflicts
  }

  /// The deletions, by the root entity whose table has the rows; usually of one.
  private func _deletionsByRoot() throws -> [(root: Int, deletions: [ChangeSet.Deletion])] {
    guard let first = changes.deleted.first else { return [] }
    let root = try layout(of: first.id).rootNumber
    let space = first.id.space
    if changes.deleted.allSatisfy({ $0.id.space === space }) { return [(root, changes.deleted)] }
    var deletions: [Int: [ChangeSet.Deletion]] = [:]
    for deletion in changes.deleted {
      deletions[try layout(of: deletion.id).rootNumber, default: []].append(deletion)
    }
    return deletions.map { ($0.key, $0.value) }
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
  private func _delete(_ deletions: [ChangeSet.Deletion], _ root: Int) throws -> [Expectation] {
    if deletions.isEmpty { return [] }
    let timeline = connection.timeline
    // In key order, in which the server looks them up unless they are a large part of the table.
    let rows = deletions.compactMap { deletion in
      deletion.id.key.map { ($0.reference, PostgreSQLVersion.expected(deletion.base.version, on: timeline)) }
    }
    .sorted { $0.0 < $1.0 }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(rows.map(\.0)))
    let deletion = "DELETE FROM \(mapping.table(of: root).name) t"
    let sql: String
    if let version = rows.first?.1, rows.allSatisfy({ $0.1 == version }) {
      parameters.add(version)
      let keys = rows.count == 1 ? "= ($1::int8[])[1]" : "= ANY($1::int8[])"
      sql = "\(deletion) WHERE t.\"id\" \(keys) AND t.\"version\" = $2::int8 RETURNING t.\"id\""
    } else {
      parameters.add(PostgreSQLArray(rows.map(\.1)))
      sql = """
        \(deletion) USING unnest($1::int8[], $2::int8[]) AS n(k, v) \
        WHERE t."id" = n.k AND t."version" = n.v RETURNING t."id"
        """
    }
    let found = try connection.run(sql, parameters)
    if found.rowCount == rows.count { return [] }
    let deleted = Set((0..<found.rowCount).map { found.int64($0, 0) })
    return deletions.filter { deletion in deletion.id.key.map { !deleted.contains($0.reference) } ?? false }
      .map { Expectation(id: $0.id, base: $0.base) }
  }
}
