import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

extension StoreMigration {
  /// Reads external values into the rows, for attributes that no longer allow external storage. Keeps the
  /// files, since the transaction may still fail.
  func readExternalValues() throws {
    for flow in plan.flows {
      for pair in flow.pairs {
        for slot in pair.new.slots.indices {
          guard case .attribute(let column) = new.storage(of: slot, in: pair.new.entityNumber),
            new.column(column, of: pair.new.entityNumber).content == .data,
            let source = plan.attributeSource(of: slot, in: pair),
            case .attribute(let former) = old.storage(of: source, in: pair.old.entityNumber),
            old.column(former, of: pair.old.entityNumber).content == .externalData
          else { continue }
          try _readFiles(
            from: old.column(former, of: pair.old.entityNumber).name,
            to: new.column(column, of: pair.new.entityNumber).name, pair, offset: flow.offset)
        }
      }
    }
  }

  private func _readFiles(
    from former: String, to column: String, _ pair: MigrationPlan.Pair, offset: Int64
  ) throws {
    var cells: [(key: Int64, name: Data)] = []
    try connection.query(
      "SELECT Z_PK, \(former) FROM \(away(of: pair.old.entityNumber)) WHERE Z_ENT = ? AND SUBSTR(\(former), 1, 1) = x'02'",
      [.int(Int64(old.numbers.stored(for: pair.old.entityNumber)))]
    ) { row in cells.append((row.int64(0), row.withBytes(1) { Data($0) })) }
    let table = new.table(of: pair.new.entityNumber).name
    for cell in cells {
      let value = try cell.name.withUnsafeBytes { try externalData.read($0) }
      try connection.query(
        "UPDATE \(table) SET \(column) = ? WHERE Z_PK = ?",
        [value.map { .blob(Array($0)) } ?? .null, .int(cell.key + offset)])
    }
  }
}
