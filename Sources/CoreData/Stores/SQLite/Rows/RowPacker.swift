import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Reads the rows of one entity into packed Rows: the inner loop of every fetch.
///
/// Its steps are plain bytes, so that iterating them involves no reference counting.
final class RowPacker: Sendable {
  private struct Step: Sendable {
    enum Kind: UInt8, Sendable { case int, bool, double, text }

    let column: Int32
    let slot: Int16
    let kind: Kind
  }

  let format: RowFormat
  private let _steps: [Step]

  /// - Parameters:
  ///   - cells: All cells of an entity.
  ///   - format: The format of the entity's rows.
  init(_ cells: [CellDecoder], _ format: RowFormat) {
    self.format = format
    _steps = cells.map { cell in
      let kind: Step.Kind =
        switch cell.content {
        case .bool: .bool
        case .double: .double
        case .string: .text
        case .int, .reference: .int
        case .decimal, .uuid, .transformable, .data, .externalData, .polymorphicReference:
          preconditionFailure("a packed Row has no such cell")
        }
      return Step(column: cell.column, slot: Int16(cell.slot), kind: kind)
    }
  }

  /// Reads a statement's current row; nil if its texts are too long to pack.
  func row(_ statement: Statement, version: Int64) -> Row? {
    format.row(version: version) { cells in
      _steps.withUnsafeBufferPointer { steps in
        for step in steps {
          let slot = Int(step.slot)
          switch step.kind {
          case .int, .bool:
            // NULL also reads as zero; only zero needs a second check.
            let value = statement.int64(step.column)
            cells.set(step.kind == .int ? UInt64(bitPattern: value) : value == 0 ? 0 : 1, at: slot)
            if value == 0, statement.isNull(step.column) { cells.setNull(at: slot) }
          case .double:
            let value = statement.double(step.column)
            cells.set(value.bitPattern, at: slot)
            if value == 0, statement.isNull(step.column) { cells.setNull(at: slot) }
          case .text:
            let text = statement.text(step.column)
            if text.baseAddress == nil {
              cells.setNull(at: slot)
            } else if !cells.set(text, at: slot) {
              return false
            }
          }
        }
        return true
      }
    }
  }
}

extension RowFormat {
  /// The format of an entity's rows; nil if they have cells that a packed Row cannot contain.
  convenience init?(_ layout: PropertyLayout, _ mapping: StoreMapping, _ spaces: [ObjectIDSpace]) {
    let count = layout.slots.count
    guard count > 0, count <= RowFormat.maximumCount else { return nil }
    let columns = mapping.table(of: layout.entityNumber).columns
    var kinds = [Kind](repeating: .absent, count: count)
    var destinations = [ObjectIDSpace?](repeating: nil, count: count)
    for slot in layout.slots.indices {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .attribute(let column):
        switch columns[column].content {
        case .int, .bool, .foreignKey, .foreignEntity, .order: kinds[slot] = .int
        case .double: kinds[slot] = .double
        case .string: kinds[slot] = .text
        case .decimal, .uuid, .transformable, .data, .externalData: return nil
        }
      case .toOne(_, let entityColumn, _, let destination):
        if entityColumn != nil { return nil }
        kinds[slot] = .reference
        destinations[slot] = spaces[destination - 1]
      case .composite: return nil
      case .none, .oneToMany, .manyToMany: break
      }
    }
    self.init(kinds, spaces: destinations)
  }
}
