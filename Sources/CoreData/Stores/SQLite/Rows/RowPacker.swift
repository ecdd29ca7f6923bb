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

  /// Nil if the entity has cells that a packed Row cannot contain.
  init?(_ cells: [CellDecoder], slotCount: Int) {
    guard slotCount > 0, slotCount <= RowFormat.maximumCount else { return nil }
    var kinds = [RowFormat.Kind](repeating: .absent, count: slotCount)
    var spaces = [ObjectIDSpace?](repeating: nil, count: slotCount)
    var steps: [Step] = []
    for cell in cells {
      let kind: Step.Kind
      switch cell.content {
      case .int: (kinds[cell.slot], kind) = (.int, .int)
      case .bool: (kinds[cell.slot], kind) = (.int, .bool)
      case .double: (kinds[cell.slot], kind) = (.double, .double)
      case .string: (kinds[cell.slot], kind) = (.text, .text)
      case .reference(let space):
        (kinds[cell.slot], kind) = (.reference, .int)
        spaces[cell.slot] = space
      case .decimal, .uuid, .transformable, .data, .externalData, .polymorphicReference: return nil
      }
      steps.append(Step(column: cell.column, slot: Int16(cell.slot), kind: kind))
    }
    format = RowFormat(kinds, spaces: spaces)
    _steps = steps
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
