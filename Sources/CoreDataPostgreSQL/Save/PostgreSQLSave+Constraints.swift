import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// Uniqueness constraints.

extension PostgreSQLSave {
  /// Sets the constrained values to NULL in all rows that get new ones, so that rows can swap values.
  func clearExchangedValues() throws {
    for (number, updates) in Dictionary(
      grouping: changes.updated, by: { $0.id.space.layout.entityNumber }
    ).sorted(by: { $0.key < $1.key }) {
      let layout = mapping.layout.layout(numbered: number)
      let table = mapping.table(of: number)
      for slot in Set(layout.uniquenessConstraints.joined()).sorted() {
        let keys = updates.filter { $0.changed.contains(slot) }.compactMap { $0.id.key?.reference }
        guard !keys.isEmpty, let column = _column(slot, number) else { continue }
        var parameters = PostgreSQLParameters()
        parameters.add(PostgreSQLArray(keys))
        try connection.run(
          "UPDATE \(table.name) SET \(column) = NULL WHERE \"id\" = ANY($1::int8[])", parameters)
      }
    }
  }

  /// Returns the column of a constrained property.
  private func _column(_ slot: Int, _ number: Int) -> String? {
    let table = mapping.table(of: number)
    switch mapping.storage(of: slot, in: number) {
    case .attribute(let column): return table.columns[column].name
    case .toOne(let column, _, _, _): return table.columns[column].name
    case .none, .oneToMany, .manyToMany, .composite: return nil
    }
  }

  /// An object of the save, with the row to write.
  private struct Written {
    let id: NSManagedObjectID
    let key: Int64
    let row: Row
    let layout: PropertyLayout
  }

  /// Returns the constraints that the rows to write violate, among each other or against stored rows.
  ///
  /// Call after deletions and `clearExchangedValues`, so that every violation found is final.
  func violations() throws -> [StoreConstraintError.Violation] {
    var written: [Written] = []
    for (index, insertion) in changes.inserted.enumerated() {
      let layout = try layout(of: insertion.id)
      written.append(Written(id: insertion.id, key: insertedKeys[index], row: insertion.row, layout: layout))
    }
    for update in changes.updated {
      let layout = try layout(of: update.id)
      guard layout.uniquenessConstraints.joined().contains(where: update.changed.contains) else { continue }
      written.append(
        Written(id: update.id, key: update.id.key!.reference, row: update.row, layout: layout))
    }
    var result: [StoreConstraintError.Violation] = []
    for (_, objects) in Dictionary(grouping: written, by: \.layout.entityNumber).sorted(by: {
      $0.key < $1.key
    }) {
      for slots in objects[0].layout.uniquenessConstraints {
        result += try _violations(of: slots, objects)
      }
    }
    return result
  }

  private func _violations(
    of slots: [Int], _ objects: [Written]
  ) throws -> [StoreConstraintError.Violation] {
    let layout = objects[0].layout
    let constrained = objects.filter { !$0.row.hasNull(at: slots) }
    guard !constrained.isEmpty else { return [] }
    // Values as text of their own kinds, equal exactly where the columns' values are.
    var groups: [String: [Written]] = [:]
    var order: [String] = []
    for object in constrained {
      let key = try text(of: slots, in: object.row, layout)
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(object)
    }
    let stored = try stored(
      with: slots, constrained.map(\.row), except: constrained.map(\.key), layout)
    let names = slots.map { layout.slots[$0].name }
    return order.compactMap { key in
      let objects = groups[key]!
      let existing = stored[key]
      guard objects.count > 1 || existing != nil else { return nil }
      return StoreConstraintError.Violation(constraint: names, objects: objects.map(\.id), existing: existing)
    }
  }

  /// Returns the values of a constraint as one text.
  func text(of slots: [Int], in row: Row, _ layout: PropertyLayout) throws -> String {
    try slots.map { try _text(row[$0], layout, $0) }.joined(separator: "\u{1}")
  }

  private func _text(_ value: Value, _ layout: PropertyLayout, _ slot: Int) throws -> String {
    switch value {
    case .int(let number): "i\(number)"
    case .double(let number): "d\(number + 0)"
    case .string(let text): "s\(text)"
    case .uuid(let uuid): "u\(uuid)"
    case .decimal(let box): "n\(box.decimal)"
    case .data(let data): "b\(data.base64EncodedString())"
    case .transformable(let box): "b\((box.data ?? .init()).base64EncodedString())"
    case .reference(let reference): "r\(reference.reference)"
    case .pending(let id): "r\(try key(of: id, layout, slot))"
    case .null, .toMany, .composite: ""
    }
  }

  /// Returns the stored rows that have the values of one of the given rows, by these values' texts.
  func stored(
    with slots: [Int], _ rows: [Row], except keys: [Int64], _ layout: PropertyLayout
  ) throws -> [String: StoredObject] {
    let number = layout.entityNumber
    let root = layout.rootNumber
    let cells = engine.plans.update(SlotSet(slots), of: number).columns.filter {
      switch $0.cell {
      case .entity, .derived, .moment: false
      case .attribute, .element, .key: true
      }
    }
    guard !cells.isEmpty else { return [:] }
    let reader = engine.familyReaders[root - 1]
    var parameters = PostgreSQLParameters()
    var arrays: [String] = []
    for column in cells {
      parameters.add(try array(column, rows, count: rows.count, layout))
      arrays.append("$\(arrays.count + 1)::\(column.type.name)")
    }
    parameters.add(PostgreSQLArray(keys))
    let aliases = cells.indices.map { "c\($0)" }
    // Of several arrays it is the server's syntax, which has no schema.
    let unnest = arrays.count == 1 ? "pg_catalog.unnest" : "unnest"
    let conditions = cells.enumerated().map { "t0.\($0.element.name) = n.c\($0.offset)" }
    let found = try connection.run(
      """
      SELECT DISTINCT ON (t0."id") \(reader.lists.values) FROM \(mapping.table(of: number).name) t0 \
      JOIN \(unnest)(\(arrays.joined(separator: ", "))) AS n(\(aliases.joined(separator: ", "))) \
      ON \(conditions.joined(separator: " AND ")) \
      WHERE NOT (t0."id" = ANY($\(arrays.count + 1)::int8[])) ORDER BY t0."id"
      """, parameters, isRepeated: false)
    var result: [String: StoredObject] = [:]
    for object in try reader.objects(found) {
      guard let row = object.row else { continue }
      result[try text(of: slots, in: row, layout)] = object
    }
    return result
  }
}
