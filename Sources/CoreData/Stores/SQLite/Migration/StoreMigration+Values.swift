import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Objects that are to have a value in a mandatory attribute and have none.
struct MissingValuesError: Error, CustomStringConvertible {
  let entity: String
  let attribute: String

  /// What Core Data says of it.
  static let reason = "Validation error missing attribute values on mandatory destination attribute"

  var description: String { "\(Self.reason) '\(entity).\(attribute)'" }
}

extension StoreMigration {
  /// Checks that the rows have values in attributes which are mandatory now and were not, and which have no
  /// default to put there.
  ///
  /// - Throws: `MissingValuesError`, `SQLiteError`.
  func checkMandatoryValues() throws {
    for pair in plan.flows.flatMap(\.pairs) {
      for slot in pair.new.slots.indices where _mayMissValues(slot, pair) {
        guard case .attribute(let column) = new.storage(of: slot, in: pair.new.entityNumber) else { continue }
        let table = new.table(of: pair.new.entityNumber)
        let missing = try connection.firstValue(
          "SELECT 1 FROM \(table.name) WHERE Z_ENT = ? AND \(table.columns[column].name) IS NULL LIMIT 1",
          [.int(Int64(new.numbers.stored(for: pair.new.entityNumber)))])
        if missing != nil {
          throw MissingValuesError(entity: pair.new.entityName, attribute: pair.new.slots[slot].name)
        }
      }
    }
  }

  /// Reads values that lie in files of their own into the rows, for attributes that allow no external storage any
  /// more. The files stay: the transaction may still fail.
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

  private func _mayMissValues(_ slot: Int, _ pair: MigrationPlan.Pair) -> Bool {
    guard let attribute = pair.new.slots[slot].attribute, !attribute.isOptional, !attribute.isDerived,
      attribute.defaultValue == nil
    else { return false }
    guard let source = plan.attributeSource(of: slot, in: pair) else { return true }
    return pair.old.slots[source].isOptional || pair.old.slots[source].isTransient
  }
}

extension PropertyLayout {
  /// The element of a composite attribute that a column holds.
  func element(_ leaf: CompositeLeaf, in slot: Int) -> AttributeSchema? {
    var elements = slots[slot].attribute?.elements ?? []
    var element: AttributeSchema?
    for step in leaf.path {
      guard step < elements.count else { return nil }
      element = elements[step]
      elements = elements[step].elements
    }
    return element
  }
}

extension SQLPiece {
  /// The number in a column as a store keeps it for another type: what assigning it to an attribute of that
  /// type would give.
  init(_ conversion: NumericConversion, of column: String) {
    switch conversion.target {
    case .boolean: self.init(sql: "(\(column) <> 0)")
    case .integer16, .integer32, .integer64:
      let isWhole = conversion.source.integerBits != nil
      let number = isWhole ? column : "CAST(\(column) AS INTEGER)"
      guard let bits = conversion.target.integerBits, bits < 64,
        bits < conversion.source.integerBits ?? 64
      else {
        self.init(sql: number)
        return
      }
      // The low bits, with the highest of them as the sign.
      let (mask, sign) = ((1 << bits) - 1, 1 << (bits - 1))
      self.init(sql: "((((\(number)) & \(mask)) + \(sign)) & \(mask)) - \(sign)")
    case .double: self.init(sql: "CAST(\(column) AS REAL)")
    case .float: self.init(sql: "NSCoreDataFloat(\(column))")
    case .decimal where conversion.source == .float: self.init(sql: "NSCoreDataFloatDecimal(\(column))")
    default: self.init(sql: column)
    }
  }
}
