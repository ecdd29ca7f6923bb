import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Reads the rows of one entity, with or without its subentities, from a statement that selects `selectList`.
///
/// Created once per entity; decoding a row needs no look-up.
final class RowReader: Sendable {
  /// Data shared by all readers of a store.
  final class Context: Sendable {
    let mapping: StoreMapping
    let numbers: EntityNumbers
    /// By entity number - 1.
    let spaces: [ObjectIDSpace]
    let externalData: ExternalDataDirectory
    /// How rows are packed, by entity number - 1; nil for entities whose rows cannot be packed.
    let formats: [RowFormat?]

    init(mapping: StoreMapping, spaces: [ObjectIDSpace], externalData: ExternalDataDirectory) {
      self.mapping = mapping
      numbers = mapping.numbers
      self.spaces = spaces
      self.externalData = externalData
      formats = mapping.layout.layouts.map { RowFormat($0, mapping, spaces) }
    }
  }

  /// The cells of one concrete entity.
  private final class EntityDecoder: Sendable {
    let space: ObjectIDSpace
    let slotCount: Int
    let cells: [CellDecoder]
    let composites: [CompositeDecoder]
    /// Creates packed rows; nil for an entity whose rows cannot be packed.
    let packer: RowPacker?
    /// The packer, for calls without reference counting.
    private let _packer: Unmanaged<RowPacker>?

    init(
      space: ObjectIDSpace, slotCount: Int, cells: [CellDecoder], composites: [CompositeDecoder],
      format: RowFormat?
    ) {
      self.space = space
      self.slotCount = slotCount
      self.cells = cells
      self.composites = composites
      packer = format.map { RowPacker(cells, composites, $0) }
      _packer = packer.map(Unmanaged.passUnretained)
    }

    /// Reads a statement's current row; nil if it cannot be packed.
    ///
    /// - Throws: `CellError`.
    @inline(__always)
    func packedRow(_ statement: Statement, version: Int64, _ context: Context) throws -> Row? {
      try _packer?._withUnsafeGuaranteedRef { try $0.row(statement, version: version, context) }
    }
  }

  /// Columns to select from table alias `t0`: key, version, entity if it can vary, then values.
  let selectList: String
  /// Columns to select if only IDs are needed.
  let identityList: String
  private let _context: Context
  private let _tableName: String
  private let _isPolymorphic: Bool
  /// By entity number - 1; nil outside the family.
  private let _decoders: [EntityDecoder?]
  /// The decoder of the entity itself, which `_decoders` retains.
  private let _only: Unmanaged<EntityDecoder>
  private let _part: RowPart?

  /// The packed format; nil if rows are not packed, or belong to several entities.
  var format: RowFormat? { _isPolymorphic ? nil : _only.takeUnretainedValue().packer?.format }

  /// - Parameter part: The slots to read; nil for all. Subentities number inherited slots like their parents.
  init(entity number: Int, includesSubentities: Bool, part: RowPart? = nil, context: Context) {
    let mapping = context.mapping
    let layout = mapping.layout.layout(numbered: number)
    let table = mapping.table(of: number)
    _context = context
    _tableName = table.name
    _part = part
    // A table of one entity may contain any number in Z_ENT.
    _isPolymorphic = table.hasSubentities
    let family = includesSubentities ? layout.family : [number]

    var selected: [Int: Int32] = [:]
    var names = ["t0.Z_PK", "t0.Z_OPT"]
    if _isPolymorphic { names.append("t0.Z_ENT") }
    identityList = _isPolymorphic ? "t0.Z_PK, t0.Z_ENT" : "t0.Z_PK"
    func select(_ column: Int) -> Int32 {
      if let index = selected[column] { return index }
      names.append("t0.\(table.columns[column].name)")
      selected[column] = Int32(names.count - 1)
      return Int32(names.count - 1)
    }
    var decoders: [EntityDecoder?] = Array(repeating: nil, count: mapping.layout.layouts.count)
    for member in family {
      let memberLayout = mapping.layout.layout(numbered: member)
      var cells: [CellDecoder] = []
      var composites: [CompositeDecoder] = []
      for slot in memberLayout.slots.indices where part?.slots.contains(slot) ?? true {
        switch mapping.storage(of: slot, in: member) {
        case .attribute(let column):
          let content = Self._content(table.columns[column].content)
          cells.append(CellDecoder(slot: slot, column: select(column), content: content))
        case .toOne(let column, let entityColumn, _, let destination):
          let space = context.spaces[destination - 1]
          let content: CellDecoder.Content =
            if let entityColumn {
              .polymorphicReference(space, entityColumn: select(entityColumn))
            } else {
              .reference(space)
            }
          cells.append(CellDecoder(slot: slot, column: select(column), content: content))
        case .composite(let leaves):
          let decoders = leaves.map { leaf in
            CellDecoder(
              slot: slot, column: select(leaf.column),
              content: Self._content(table.columns[leaf.column].content))
          }
          composites.append(CompositeDecoder(slot: slot, memberLayout.slots[slot].attribute!, decoders))
        case .none, .oneToMany, .manyToMany: break
        }
      }
      decoders[member - 1] = EntityDecoder(
        space: context.spaces[member - 1], slotCount: memberLayout.slots.count, cells: cells,
        composites: composites, format: part == nil ? context.formats[member - 1] : nil)
    }
    selectList = names.joined(separator: ", ")
    _only = .passUnretained(decoders[number - 1]!)
    _decoders = decoders
  }

  private static func _content(_ content: ColumnContent) -> CellDecoder.Content {
    switch content {
    case .int, .foreignKey, .foreignEntity, .order: .int
    case .bool: .bool
    case .double: .double
    case .decimal: .decimal
    case .string: .string
    case .uuid: .uuid
    case .transformable: .transformable
    case .data: .data
    case .externalData: .externalData
    }
  }

  /// Returns the object in the current row of a statement that selects `selectList`; nil if the row's entity
  /// is outside the family.
  ///
  /// - Throws: `SQLiteStoreError.corruptRow` for a row that no store of this model can contain.
  func object(_ statement: Statement) throws -> StoredObject? {
    let reference = statement.int64(0)
    let version = statement.int64(1)
    return try _decoder(statement, column: 2, reference)?._withUnsafeGuaranteedRef {
      try _object(statement, $0, reference, version: version)
    }
  }

  @inline(__always)
  private func _object(
    _ statement: Statement, _ decoder: EntityDecoder, _ reference: Int64, version: Int64
  ) throws -> StoredObject {
    do {
      if let row = try decoder.packedRow(statement, version: version, _context) {
        return StoredObject(key: ObjectKey(space: decoder.space, reference: reference), row: row)
      }
      let row = try Row(count: decoder.slotCount, version: version) { cells in
        for cell in decoder.cells {
          if let value = try cell.value(statement, _context) { (cells + cell.slot).initialize(to: value) }
        }
        for composite in decoder.composites {
          if let value = try composite.value(statement, _context) {
            (cells + composite.slot).initialize(to: value)
          }
        }
      }
      return StoredObject(key: ObjectKey(space: decoder.space, reference: reference), row: row, part: _part)
    } catch let error as CellError {
      throw SQLiteStoreError.corruptRow(table: _tableName, key: reference, reason: error.reason)
    }
  }

  /// Returns the key in the current row of a statement that selects `identityList`.
  func key(_ statement: Statement) throws -> ObjectKey? {
    let reference = statement.int64(0)
    return try _decoder(statement, column: 1, reference)?._withUnsafeGuaranteedRef {
      ObjectKey(space: $0.space, reference: reference)
    }
  }

  @inline(__always)
  private func _decoder(
    _ statement: Statement, column: Int32, _ reference: Int64
  ) throws -> Unmanaged<EntityDecoder>? {
    guard _isPolymorphic else { return _only }
    let stored = statement.int64(column)
    guard let number = _context.numbers.number(forStored: stored) else {
      throw SQLiteStoreError.corruptRow(
        table: _tableName, key: reference, reason: "the model has no entity number \(stored)")
    }
    return _decoders[number - 1].map(Unmanaged.passUnretained)
  }
}
