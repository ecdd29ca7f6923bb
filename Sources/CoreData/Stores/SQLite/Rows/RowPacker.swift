import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Reads the rows of one entity into packed Rows: the inner loop of every fetch.
///
/// Its steps are plain bytes in memory of its own, so that iterating them involves no reference counting.
final class RowPacker: @unchecked Sendable {
  // Unchecked: the steps are immutable.

  private struct Step: Sendable {
    enum Kind: UInt8, Sendable { case int, bool, double, text, uuid }

    let column: Int32
    let slot: Int16
    let kind: Kind
  }

  let format: RowFormat
  private let _format: Unmanaged<RowFormat>
  private let _steps: UnsafeMutableBufferPointer<Step>
  /// Cells that are set in the finished Row, one by one.
  private let _late: [CellDecoder]
  private let _composites: [CompositeDecoder]
  /// Bytes that the late cells need.
  private let _room: Int

  /// - Parameters:
  ///   - cells: All cells of an entity.
  ///   - composites: The composites among them.
  ///   - format: The format of the entity's rows.
  init(_ cells: [CellDecoder], _ composites: [CompositeDecoder], _ format: RowFormat) {
    self.format = format
    var steps: [Step] = []
    var late: [CellDecoder] = []
    for cell in cells {
      func add(_ kind: Step.Kind) {
        steps.append(Step(column: cell.column, slot: Int16(cell.slot), kind: kind))
      }
      switch cell.content {
      case .bool: add(.bool)
      case .double: add(.double)
      case .string: add(.text)
      case .int, .reference: add(.int)
      case .uuid: add(.uuid)
      case .decimal, .transformable, .data, .externalData, .polymorphicReference: late.append(cell)
      }
    }
    _format = .passUnretained(format)
    _steps = .allocate(capacity: steps.count)
    _ = _steps.initialize(from: steps)
    (_late, _composites) = (late, composites)
    _room = late.reduce(0) { room, cell in
      if case .decimal = cell.content { room + MemoryLayout<Decimal>.size } else { room }
    }
  }

  deinit { _steps.deallocate() }

  /// Reads a statement's current row; nil if a cell cannot be packed.
  ///
  /// - Throws: `CellError`.
  func row(_ statement: Statement, version: Int64, _ context: RowReader.Context) throws -> Row? {
    // Closures that capture references would retain them for each row.
    let (packer, statements) = (Unmanaged.passUnretained(self), Unmanaged.passUnretained(statement))
    let packed = _format._withUnsafeGuaranteedRef { format in
      format.row(version: version) { cells in
        packer._withUnsafeGuaranteedRef { packer in
          statements._withUnsafeGuaranteedRef { packer._fill(&cells, $0) }
        }
      }
    }
    guard var packed else { return nil }
    if !_late.isEmpty || !_composites.isEmpty { try _setLate(&packed, statement, context) }
    return packed
  }

  /// Sets the cells of a Row; false if one cannot be packed.
  @inline(__always)
  private func _fill(_ cells: inout PackedCells, _ statement: Statement) -> Bool {
    for step in _steps {
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
      case .uuid:
        if statement.isNull(step.column) {
          cells.setNull(at: slot)
          continue
        }
        // Anything but 16 bytes is a text, or damaged.
        let isSet = statement.withBytes(step.column) { bytes in
          bytes.count == 16 && cells.set(bytes.assumingMemoryBound(to: UInt8.self), at: slot)
        }
        if !isSet { return false }
      }
    }
    _prepare(&cells)
    return true
  }

  @inline(__always) private func _prepare(_ cells: inout PackedCells) {
    if _late.isEmpty, _composites.isEmpty { return }
    cells.reserve(_room)
    for cell in _late { cells.setNull(at: cell.slot) }
    for composite in _composites { cells.setNull(at: composite.slot) }
  }

  @inline(never)
  private func _setLate(_ row: inout Row, _ statement: Statement, _ context: RowReader.Context) throws {
    for cell in _late {
      if let value = try cell.value(statement, context) { row.set(value, at: cell.slot) }
    }
    for composite in _composites {
      if let value = try composite.value(statement, context) { row.set(value, at: composite.slot) }
    }
  }
}

extension RowFormat {
  /// The format of an entity's rows; nil if they have more cells than a packed Row can contain.
  convenience init?(_ layout: PropertyLayout, _ mapping: StoreMapping, _ spaces: [ObjectIDSpace]) {
    let count = layout.slots.count
    guard count > 0, count <= RowFormat.maximumCount else { return nil }
    let columns = mapping.table(of: layout.entityNumber).columns
    var kinds = [Kind](repeating: .absent, count: count)
    var destinations = [ObjectIDSpace?](repeating: nil, count: count)
    for slot in layout.slots.indices {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .attribute(let column):
        kinds[slot] =
          switch columns[column].content {
          case .int, .bool, .foreignKey, .foreignEntity, .order: .int
          case .double: .double
          case .string: .text
          case .uuid: .uuid
          case .decimal: .decimal
          case .transformable: .transformable
          case .data, .externalData: .data
          }
      case .toOne(_, let entityColumn, _, let destination):
        kinds[slot] = entityColumn == nil ? .reference : .entityReference
        destinations[slot] = spaces[destination - 1]
      case .composite: kinds[slot] = .composite
      case .none, .oneToMany, .manyToMany: break
      }
    }
    self.init(kinds, spaces: destinations, entitySpaces: spaces)
  }
}
