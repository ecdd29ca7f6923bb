import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Writes a store as plain tables, with memory use independent of the store's size.
struct StoreFlattener {
  private let _input: StoreInput
  private let _reader: StoreReader
  private let _schema: FlatSchema
  private let _values: FlatValues
  private let _zone: TimeZoneText

  init(_ input: StoreInput, _ reader: StoreReader, _ zone: TimeZoneText) {
    (_input, _reader, _zone) = (input, reader, zone)
    _schema = FlatSchema(reader.layout)
    _values = FlatValues(ValueText(reader.layout, zone))
  }

  /// - Parameters:
  ///   - indexesTexts: Whether the texts of each table are indexed for a search by words.
  ///   - progress: Called with the progress, 0 to 1, and the table.
  /// - Returns: Numbers of objects and of tables.
  func run(
    to sink: any FlatSink, indexesTexts: Bool, progress: @escaping (Double, String) -> Void
  ) throws -> (objects: Int, tables: Int) {
    let counts = try _reader.counts()
    let all = counts.values.reduce(0, +)
    let joined = _schema.joins.reduce(0) { total, join in
      total + join.owner.family.reduce(0) { $0 + (counts[$1] ?? 0) }
    }
    var done = 0
    func advance(_ name: String) {
      done += 1
      if done % 64 == 0 { progress(Double(done) / Double(max(1, all + joined)), name) }
    }
    for table in _schema.tables {
      try sink.begin(table.name, table.columns, key: ["id"])
      for entity in table.root.family {
        try _write(table, entity, to: sink) { advance(table.name) }
      }
      try sink.end()
    }
    for join in _schema.joins {
      try sink.begin(join.name, join.columns, key: join.columns.map(\.name))
      for entity in join.owner.family { try _write(join, entity, to: sink) { advance(join.name) } }
      try sink.end()
    }
    for view in _schema.views { try sink.add(view) }
    if indexesTexts {
      for table in _schema.tables {
        let texts = table.columns.filter { $0.type == .text && $0.property != nil && $0.note.isEmpty }
        if !texts.isEmpty { try sink.index(texts.map(\.name), of: table.name) }
      }
    }
    try _describe(to: sink)
    try sink.finish()
    return (all, _schema.tables.count + _schema.joins.count)
  }

  private func _write(
    _ table: FlatSchema.Table, _ entity: Int, to sink: any FlatSink, _ advance: () -> Void
  ) throws {
    let name = _reader.layout.layout(numbered: entity).entityName
    let sources = table.sources[entity] ?? []
    try _reader.forEachRow(of: entity) { row in
      var values: [FlatValue] = [.integer(row.reference.key)]
      values.reserveCapacity(table.columns.count)
      if table.hasEntity { values.append(.text(name)) }
      for source in sources { values.append(source.map { _values.value(row, $0) } ?? .null) }
      try sink.add(values)
      advance()
    }
  }

  private func _write(
    _ join: FlatSchema.Join, _ entity: Int, to sink: any FlatSink, _ advance: () -> Void
  ) throws {
    guard let slot = _reader.layout.layout(numbered: entity).slot(named: join.property) else { return }
    try _reader.forEachRow(of: entity) { row in
      for (index, member) in try _reader.members(of: row.reference, slot: slot).enumerated() {
        var values: [FlatValue] = [.integer(row.reference.key), .integer(member.key)]
        if join.isOrdered { values.append(.integer(Int64(index))) }
        try sink.add(values)
      }
      advance()
    }
  }

  // MARK: Provenance

  private func _describe(to sink: any FlatSink) throws {
    func column(_ name: String) -> FlatSchema.Column {
      FlatSchema.Column(name: name, type: .text, property: nil, note: "")
    }
    try sink.begin(
      FlatSchema.dictionary, ["table", "column", "entity", "property", "note"].map(column), key: [])
    for table in _schema.tables {
      for item in table.columns {
        try sink.add([
          .text(table.name), .text(item.name), .text(table.root.entityName),
          item.property.map { .text($0) } ?? .null, .text(item.note),
        ])
      }
    }
    for join in _schema.joins {
      for item in join.columns {
        try sink.add([
          .text(join.name), .text(item.name), .text(join.owner.entityName), .text(join.property),
          .text(item.note),
        ])
      }
    }
    try sink.end()
    try sink.begin(FlatSchema.provenance, ["key", "value"].map(column), key: [])
    for (key, value) in _provenance() { try sink.add([.text(key), .text(value)]) }
    try sink.end()
  }

  private func _provenance() -> [(String, String)] {
    let file = try? FileManager.default.attributesOfItem(atPath: _input.path)
    let modified = file?[.modificationDate] as? Date
    var lines: [(String, String)] = [
      ("source", _input.name), ("source_bytes", (file?[.size] as? NSNumber)?.stringValue ?? ""),
      ("source_modified", modified.map { _zone.text($0.timeIntervalSinceReferenceDate) } ?? ""),
      ("store_uuid", _input.metadata[NSStoreUUIDKey] as? String ?? ""), ("model", _input.model.origin),
      ("time_zone", _zone.name), ("written_by", "coredata \(PackageVersion.number)"),
    ]
    let versions = _input.metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
    if !versions.isEmpty { lines.append(("model_versions", versions.joined(separator: ", "))) }
    return lines
  }
}
