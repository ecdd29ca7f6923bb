import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// Reads rows of one entity, with or without its subentities, from results in binary form.
///
/// Created once per entity; decoding a row needs no lookups.
final class PostgreSQLRowReader: Sendable {
  private enum Content: Sendable {
    case int
    case double
    case string
    case decimal
    case uuid
    case data
    case transformable
    case reference(ObjectIDSpace)
    case polymorphicReference(ObjectIDSpace, entityColumn: Int)
  }

  private struct Cell: Sendable {
    let slot: Int
    let column: Int
    let content: Content
  }

  private struct Composite: Sendable {
    let slot: Int
    let part: Part
  }

  private indirect enum Part: Sendable {
    case element(Cell)
    case composite([Part])
  }

  /// A cell of a packed Row, as plain bytes, so that iterating cells involves no reference counting.
  private struct Step: Sendable {
    enum Kind: UInt8, Sendable { case int, double, text, uuid, late }

    let column: Int32
    let slot: Int16
    let kind: Kind

    init(_ cell: Cell) {
      column = Int32(truncatingIfNeeded: cell.column)
      slot = Int16(truncatingIfNeeded: cell.slot)
      kind =
        switch cell.content {
        case .int, .reference: .int
        case .double: .double
        case .string: .text
        case .uuid: .uuid
        case .decimal, .data, .transformable, .polymorphicReference: .late
        }
    }
  }

  /// The cells of one concrete entity.
  private final class EntityDecoder: @unchecked Sendable {
    // Unchecked: the steps are immutable.

    let space: ObjectIDSpace
    let slotCount: Int
    let cells: [Cell]
    let composites: [Composite]
    /// How rows are packed; nil for an entity whose rows cannot be packed.
    let format: RowFormat?
    let steps: UnsafeMutableBufferPointer<Step>
    /// Cells of a packed Row that are set in the finished Row, one by one.
    let lateCells: [Cell]
    /// Bytes that the late cells need.
    let room: Int

    init(
      _ space: ObjectIDSpace, slotCount: Int, cells: [Cell], composites: [Composite],
      packedWith entitySpaces: [ObjectIDSpace]?
    ) {
      self.space = space
      self.slotCount = slotCount
      self.cells = cells
      self.composites = composites
      format = entitySpaces.flatMap { Self._format(cells, composites, slotCount, $0) }
      let steps = cells.map(Step.init)
      self.steps = .allocate(capacity: steps.count)
      _ = self.steps.initialize(from: steps)
      lateCells = zip(cells, steps).filter { $0.1.kind == .late }.map(\.0)
      room = lateCells.reduce(0) { room, cell in
        if case .decimal = cell.content { room + MemoryLayout<Decimal>.size } else { room }
      }
    }

    deinit { steps.deallocate() }

    private static func _format(
      _ cells: [Cell], _ composites: [Composite], _ slotCount: Int, _ entitySpaces: [ObjectIDSpace]
    ) -> RowFormat? {
      guard slotCount > 0, slotCount <= RowFormat.maximumCount else { return nil }
      var kinds = [RowFormat.Kind](repeating: .absent, count: slotCount)
      var spaces = [ObjectIDSpace?](repeating: nil, count: slotCount)
      for cell in cells {
        switch cell.content {
        case .int: kinds[cell.slot] = .int
        case .double: kinds[cell.slot] = .double
        case .string: kinds[cell.slot] = .text
        case .reference(let space):
          kinds[cell.slot] = .reference
          spaces[cell.slot] = space
        case .polymorphicReference(let space, _):
          kinds[cell.slot] = .entityReference
          spaces[cell.slot] = space
        case .decimal: kinds[cell.slot] = .decimal
        case .uuid: kinds[cell.slot] = .uuid
        case .data: kinds[cell.slot] = .data
        case .transformable: kinds[cell.slot] = .transformable
        }
      }
      for composite in composites { kinds[composite.slot] = .composite }
      return RowFormat(kinds, spaces: spaces, entitySpaces: entitySpaces)
    }
  }

  /// Columns to select from table alias `t0`: key, version, entity if it can differ, then values.
  let lists: SelectLists
  /// Selects `lists.values` of the rows whose key is the parameter or one of its elements.
  let sqlForKey: String
  let sqlForKeys: String
  private let _spaces: [ObjectIDSpace]
  private let _numbers: EntityNumbers
  private let _tableName: String
  private let _isPolymorphic: Bool
  /// By stored entity number; nil outside the family.
  private let _decoders: [EntityDecoder?]
  /// The decoder of the entity itself, which `_decoders` retains.
  private let _only: Unmanaged<EntityDecoder>
  private let _part: RowPart?

  /// - Parameter part: The slots to read; nil for all.
  init(
    entity number: Int, includesSubentities: Bool, part: RowPart? = nil, mapping: StoreMapping,
    spaces: [ObjectIDSpace]
  ) {
    let layout = mapping.layout.layout(numbered: number)
    let table = mapping.table(of: number)
    _spaces = spaces
    _numbers = mapping.numbers
    _tableName = table.name
    _part = part
    _isPolymorphic = table.hasSubentities
    var names = ["t0.\"id\"", "t0.\"version\""]
    if _isPolymorphic { names.append("t0.\"entity\"") }
    var selected: [Int: Int] = [:]
    func select(_ column: Int) -> Int {
      if let place = selected[column] { return place }
      let name = "t0.\(table.columns[column].name)"
      names.append(name)
      selected[column] = names.count - 1
      return names.count - 1
    }
    func content(_ column: Int) -> Content {
      switch table.columns[column].content {
      case .int, .bool, .foreignKey, .foreignEntity, .order: .int
      case .double: .double
      case .decimal: .decimal
      case .string: .string
      case .uuid: .uuid
      case .transformable: .transformable
      case .data, .externalData: .data
      }
    }
    let most = mapping.numbers.stored.max() ?? 0
    var decoders: [EntityDecoder?] = Array(repeating: nil, count: most + 1)
    for member in includesSubentities ? layout.family : [number] {
      let memberLayout = mapping.layout.layout(numbered: member)
      var cells: [Cell] = []
      var composites: [Composite] = []
      for slot in memberLayout.slots.indices where part?.slots.contains(slot) ?? true {
        switch mapping.storage(of: slot, in: member) {
        case .attribute(let column):
          cells.append(Cell(slot: slot, column: select(column), content: content(column)))
        case .toOne(let column, let entityColumn, _, let destination):
          let space = spaces[destination - 1]
          let place = select(column)
          let content: Content =
            if let entityColumn {
              .polymorphicReference(space, entityColumn: select(entityColumn))
            } else {
              .reference(space)
            }
          cells.append(Cell(slot: slot, column: place, content: content))
        case .composite(let leaves):
          let elements = leaves.map {
            Cell(slot: slot, column: select($0.column), content: content($0.column))
          }
          var rest = elements[...]
          composites.append(
            Composite(slot: slot, part: Self._part(memberLayout.slots[slot].attribute!, &rest)))
        case .none, .oneToMany, .manyToMany: break
        }
      }
      decoders[mapping.numbers.stored(for: member)] = EntityDecoder(
        spaces[member - 1], slotCount: memberLayout.slots.count, cells: cells, composites: composites,
        packedWith: part == nil ? spaces : nil)
    }
    lists = SelectLists(
      values: names.joined(separator: ", "),
      identities: _isPolymorphic ? "t0.\"id\", t0.\"entity\"" : "t0.\"id\"")
    let byKey = "SELECT \(lists.values) FROM \(table.name) t0 WHERE t0.\"id\" ="
    sqlForKey = "\(byKey) $1::int8"
    sqlForKeys = "\(byKey) ANY($1::int8[])"
    _only = .passUnretained(decoders[mapping.numbers.stored(for: number)]!)
    _decoders = decoders
  }

  private static func _part(_ attribute: AttributeSchema, _ rest: inout ArraySlice<Cell>) -> Part {
    .composite(
      attribute.elements.map { element in
        element.type == .composite ? _part(element, &rest) : .element(rest.removeFirst())
      })
  }

  // MARK: Reading

  /// Returns all objects of a result that selects `lists.values`.
  ///
  /// - Throws: `PostgreSQLStoreError.corruptRow`.
  func objects(_ result: PostgreSQLResult) throws -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(result.rowCount)
    for row in 0..<result.rowCount {
      if let object = try object(result, row) { objects.append(object) }
    }
    return objects
  }

  /// Returns all identities of a result that selects `lists.identities`.
  func identities(_ result: PostgreSQLResult) throws -> [StoredObject] {
    var objects: [StoredObject] = []
    objects.reserveCapacity(result.rowCount)
    for row in 0..<result.rowCount {
      let reference = result.int64(row, 0)
      guard let decoder = try _decoder(result, row, column: 1, reference) else { continue }
      let key = decoder._withUnsafeGuaranteedRef { ObjectKey(space: $0.space, reference: reference) }
      objects.append(StoredObject(key: key, row: nil))
    }
    return objects
  }

  /// Returns the object in one row; nil if it belongs to an entity outside the family.
  func object(_ result: PostgreSQLResult, _ row: Int) throws -> StoredObject? {
    let reference = result.int64(row, 0)
    let version = PostgreSQLVersion.read(result.int64(row, 1), on: result.timeline)
    return try _decoder(result, row, column: 2, reference)?._withUnsafeGuaranteedRef {
      try _object(result, row, $0, reference, version: version)
    }
  }

  @inline(__always)
  private func _object(
    _ result: PostgreSQLResult, _ row: Int, _ decoder: EntityDecoder, _ reference: Int64, version: Int64
  ) throws -> StoredObject {
    let key = ObjectKey(space: decoder.space, reference: reference)
    if var packed = Self._packed(decoder, version, result, row) {
      if !decoder.lateCells.isEmpty || !decoder.composites.isEmpty {
        try _setValues(of: decoder.lateCells, decoder.composites, in: &packed, result, row, reference)
      }
      return StoredObject(key: key, row: packed)
    }
    var values = Row(count: decoder.slotCount, version: version)
    try _setValues(of: decoder.cells, decoder.composites, in: &values, result, row, reference)
    return StoredObject(key: key, row: values, part: _part)
  }

  private func _setValues(
    of cells: [Cell], _ composites: [Composite], in values: inout Row, _ result: PostgreSQLResult, _ row: Int,
    _ reference: Int64
  ) throws {
    for cell in cells {
      if let value = try _value(cell, result, row, reference) { values.set(value, at: cell.slot) }
    }
    for composite in composites {
      if let value = try _value(composite.part, result, row, reference) {
        values.set(value, at: composite.slot)
      }
    }
  }

  @inline(__always)
  private func _decoder(
    _ result: PostgreSQLResult, _ row: Int, column: Int, _ reference: Int64
  ) throws -> Unmanaged<EntityDecoder>? {
    guard _isPolymorphic else { return _only }
    let stored = result.int64(row, column)
    if stored >= 0, stored < Int64(_decoders.count), let decoder = _decoders[Int(stored)] {
      return .passUnretained(decoder)
    }
    guard _numbers.number(forStored: stored) != nil else {
      throw PostgreSQLStoreError.unknownEntity(stored, table: _tableName, key: reference)
    }
    return nil
  }

  @inline(__always)
  private static func _packed(
    _ decoder: EntityDecoder, _ version: Int64, _ result: PostgreSQLResult, _ row: Int
  ) -> Row? {
    guard let format = decoder.format.map(Unmanaged.passUnretained) else { return nil }
    // Closures that capture references would retain them for each row.
    let (decoders, results) = (Unmanaged.passUnretained(decoder), Unmanaged.passUnretained(result))
    return format._withUnsafeGuaranteedRef { format in
      format.row(version: version) { cells in
        decoders._withUnsafeGuaranteedRef { decoder in
          results._withUnsafeGuaranteedRef { _fill(&cells, decoder, $0, row) }
        }
      }
    }
  }

  /// Sets the cells of a Row; false if one cannot be packed.
  @inline(__always)
  private static func _fill(
    _ cells: inout PackedCells, _ decoder: EntityDecoder, _ result: PostgreSQLResult, _ row: Int
  ) -> Bool {
    for step in decoder.steps {
      let (slot, column) = (Int(step.slot), Int(step.column))
      let bytes = result.bytes(row, column)
      // Only text can be non-NULL and empty.
      if bytes.count == 0, step.kind != .text || result.isNull(row, column) {
        cells.setNull(at: slot)
        continue
      }
      switch step.kind {
      case .int: cells.set(UInt64(bitPattern: PostgreSQLResult.int64(bytes)), at: slot)
      case .double: cells.set(PostgreSQLResult.double(bytes).bitPattern, at: slot)
      case .text: if !cells.set(bytes, at: slot) { return false }
      case .uuid: if bytes.count != 16 || !cells.set(bytes, at: slot) { return false }
      case .late: cells.setNull(at: slot)
      }
    }
    for composite in decoder.composites { cells.setNull(at: composite.slot) }
    cells.reserve(decoder.room)
    return true
  }

  private func _value(_ part: Part, _ result: PostgreSQLResult, _ row: Int, _ reference: Int64) throws
    -> Value?
  {
    switch part {
    case .element(let cell): return try _value(cell, result, row, reference)
    case .composite(let parts):
      let values = try parts.map { try _value($0, result, row, reference) }
      guard values.contains(where: { $0 != nil }) else { return nil }
      return .composite(CompositeBox(values.map { $0 ?? .null }))
    }
  }

  private func _value(_ cell: Cell, _ result: PostgreSQLResult, _ row: Int, _ reference: Int64) throws
    -> Value?
  {
    let column = cell.column
    if result.isNull(row, column) { return nil }
    switch cell.content {
    case .int: return .int(result.int64(row, column))
    case .double: return .double(result.double(row, column))
    case .string: return .string(result.string(row, column))
    case .decimal:
      guard let decimal = result.decimal(row, column) else {
        throw PostgreSQLStoreError.corruptRow(
          table: _tableName, key: reference, reason: "a decimal attribute holds more than a decimal can")
      }
      return .decimal(DecimalBox(decimal))
    case .uuid:
      let bytes = UnsafeRawBufferPointer(result.bytes(row, column))
      guard bytes.count == 16 else {
        throw PostgreSQLStoreError.corruptRow(
          table: _tableName, key: reference, reason: "a UUID attribute holds no UUID")
      }
      return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    case .data: return .data(Data(result.bytes(row, column)))
    case .transformable:
      return .transformable(TransformableBox(object: nil, data: Data(result.bytes(row, column))))
    case .reference(let space):
      return .reference(ObjectKey(space: space, reference: result.int64(row, column)))
    case .polymorphicReference(let space, let entityColumn):
      let target = result.int64(row, column)
      if result.isNull(row, entityColumn) { return .reference(ObjectKey(space: space, reference: target)) }
      let stored = result.int64(row, entityColumn)
      guard let number = _numbers.number(forStored: stored) else {
        throw PostgreSQLStoreError.unknownEntity(stored, table: _tableName, key: reference)
      }
      return .reference(ObjectKey(space: _spaces[number - 1], reference: target))
    }
  }
}
