import CoreData
import CoreDataModelSchema

/// Writes the objects of a store one by one, with memory use independent of the store's size.
struct StoreExporter {
  private let _reader: StoreReader
  private let _entities: [PropertyLayout]

  init(_ reader: StoreReader, entities: [PropertyLayout]) {
    _reader = reader
    _entities = entities
  }

  /// - Parameter progress: Called with the progress of the export, 0 to 1, and the entity.
  /// - Returns: Number of objects.
  func run(to writer: any RecordWriter, progress: (Double, String) -> Void) throws -> Int {
    let counts = try _reader.counts()
    let total = max(1, _entities.reduce(0) { $0 + (counts[$1.entityNumber] ?? 0) })
    var done = 0
    for entity in _entities {
      let slots = entity.exchangedSlots
      try writer.begin(entity)
      try _reader.forEachRow(of: entity.entityNumber) { row in
        try writer.write(row.reference, try slots.map { try _cell($0, row, entity) }, of: entity)
        done += 1
        if done % 64 == 0 { progress(Double(done) / Double(total), entity.entityName) }
      }
      try writer.end(entity)
    }
    try writer.finish()
    return done
  }

  private func _cell(_ slot: Int, _ row: StoredRow, _ entity: PropertyLayout) throws -> FetchColumn.Cell {
    let property = entity.slots[slot]
    return property.isToMany
      ? .members(try _reader.members(of: row.reference, slot: slot))
      : .value(row.values[slot], property.attribute)
  }
}
