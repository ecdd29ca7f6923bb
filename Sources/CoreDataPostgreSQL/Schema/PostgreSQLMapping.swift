import CoreData
import CoreDataModelSchema

/// Maps a model to tables: one per root entity, one per many-to-many relationship.
struct PostgreSQLMapping {
  private let _layout: ModelLayout
  private let _schema: String
  private var _tables: [TableMapping] = []
  private var _joins: [JoinTable] = []
  private var _slots: [[SlotStorage]]
  private var _tableNames: [String: String] = [:]
  private var _textIndexes: [PostgreSQLTextIndex: Set<String>] = [:]

  /// Columns that every table has, the server's own included.
  static let reserved: Set<String> = [
    "id", "entity", "version", "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid",
  ]

  /// - Parameter numbers: The numbers by which rows name their entities; nil for those of a new store.
  /// - Throws: `PostgreSQLStoreError.model` for names that collide or are too long, and for attributes that
  ///   cannot be stored.
  static func mapping(
    for layout: ModelLayout, schema: String, numbers: EntityNumbers? = nil
  ) throws -> StoreMapping {
    var builder = PostgreSQLMapping(layout, schema)
    for root in layout.layouts where root.parentNumber == nil { try builder._addTable(root) }
    try builder._addJoins()
    StoreMapping.inherit(&builder._slots, layout)
    return StoreMapping(
      dialect: PostgreSQLDialect(schema: schema, indexes: builder._textIndexes), layout: layout,
      numbers: numbers ?? EntityNumbers(count: layout.layouts.count), tables: builder._tables,
      joins: builder._joins,
      slots: builder._slots)
  }

  private init(_ layout: ModelLayout, _ schema: String) {
    _layout = layout
    _schema = PostgreSQLNames.quoted(schema)
    _slots = layout.layouts.map { Array(repeating: SlotStorage.none, count: $0.slots.count) }
  }

  // MARK: Names

  private func _check(_ name: String, _ entity: String, _ property: String?) throws -> String {
    guard !name.isEmpty, name.utf8.count <= PostgreSQLNames.maximumLength, !name.contains("\0") else {
      throw PostgreSQLStoreError.model(
        entity: entity, property: property,
        reason:
          "'\(name)' is no name that PostgreSQL keeps whole (1 to \(PostgreSQLNames.maximumLength) bytes); "
          + "give another one in the user info, under '\(PostgreSQLNames.userInfoKey)'")
    }
    return name
  }

  private mutating func _tableName(_ name: String, _ entity: String, _ property: String?) throws -> String {
    let label = property.map { "\(entity).\($0)" } ?? entity
    let name = try _check(name, entity, property)
    if let other = _tableNames.updateValue(label, forKey: name) {
      throw PostgreSQLStoreError.model(
        entity: entity, property: property,
        reason:
          "its table would be '\(name)', as that of \(other) is; give another name in the user info, under "
          + "'\(PostgreSQLNames.userInfoKey)'")
    }
    return name
  }

  private func _schemaEntity(_ layout: PropertyLayout) -> EntitySchema? {
    _layout.schema.entities.first { $0.name == layout.entityName }
  }

  private func _given(_ slot: PropertyLayout.Slot, in layout: PropertyLayout) -> String? {
    if let attribute = slot.attribute { return attribute.traits.userInfo[PostgreSQLNames.userInfoKey] }
    return _schemaEntity(layout)?.relationships.first { $0.name == slot.name }?
      .traits.userInfo[PostgreSQLNames.userInfoKey]
  }

  /// Names of one table's columns.
  private struct Columns {
    var columns: [TableColumn] = []
    var owners: [String: String] = [:]
  }

  /// Adds a column under the first unused one of `names`.
  private func _add(
    _ names: [String], _ type: String, _ content: ColumnContent, _ layout: PropertyLayout, _ property: String,
    to table: inout Columns
  ) throws -> Int {
    for name in names where table.owners[name] == nil && !Self.reserved.contains(name) {
      let name = try _check(name, layout.entityName, property)
      table.owners[name] = "\(layout.entityName).\(property)"
      table.columns.append(
        TableColumn(name: PostgreSQLNames.quoted(name), declaredType: type, content: content))
      return table.columns.count - 1
    }
    let other = table.owners[names[0]].map { "as that of \($0) is" } ?? "which every table has"
    throw PostgreSQLStoreError.model(
      entity: layout.entityName, property: property,
      reason: "its column would be '\(names[0])', \(other); give another name in the user info, under "
        + "'\(PostgreSQLNames.userInfoKey)'")
  }

  /// Returns candidate names for the column; longer ones follow in case another entity of the table, or every
  /// table, uses the name.
  private func _names(_ base: String, isGiven: Bool, _ layout: PropertyLayout) -> [String] {
    if isGiven { return [base] }
    if Self.reserved.contains(base) { return [base + "_value"] }
    // Siblings in the hierarchy may have properties of the same name.
    return layout.parentNumber == nil
      ? [base] : [base, PostgreSQLNames.snakeCase(layout.entityName) + "_" + base]
  }

  // MARK: Tables

  private mutating func _addTable(_ root: PropertyLayout) throws {
    let entity = _schemaEntity(root)
    let name = try _tableName(
      entity?.userInfo[PostgreSQLNames.userInfoKey] ?? PostgreSQLNames.snakeCase(root.entityName),
      root.entityName, nil)
    var table = Columns()
    for number in root.family {
      let layout = _layout.layout(numbered: number)
      for slot in layout.slots.indices where layout.slots[slot].owner == number {
        let property = layout.slots[slot]
        if property.isTransient { continue }
        if let attribute = property.attribute {
          let storage = try _storage(of: attribute, property, layout, &table)
          _slots[number - 1][slot] = storage
          guard case .attribute(let column) = storage else { continue }
          for index in PostgreSQLTextIndex.asked(in: attribute.traits.userInfo) {
            _textIndexes[index, default: []].insert(table.columns[column].name)
          }
        } else if let relationship = property.relationship, !relationship.isToMany {
          _slots[number - 1][slot] = try _toOne(slot, property, relationship, layout, &table)
        }
      }
    }
    _tables.append(
      TableMapping(
        rootNumber: root.entityNumber, name: "\(_schema).\(PostgreSQLNames.quoted(name))",
        columns: table.columns, hasSubentities: root.family.count > 1))
  }

  private func _storage(
    of attribute: AttributeSchema, _ property: PropertyLayout.Slot, _ layout: PropertyLayout,
    _ table: inout Columns
  ) throws -> SlotStorage {
    let given = _given(property, in: layout)
    let base = given ?? PostgreSQLNames.snakeCase(attribute.name)
    guard attribute.type == .composite else {
      let (type, content) = try _column(attribute, layout)
      return .attribute(
        column: try _add(
          _names(base, isGiven: given != nil, layout), type, content, layout, attribute.name, to: &table))
    }
    var leaves: [CompositeLeaf] = []
    try _addElements(of: attribute, base, [], [], layout, &table, &leaves)
    return .composite(leaves)
  }

  private func _addElements(
    of composite: AttributeSchema, _ prefix: String, _ path: [Int], _ names: [String],
    _ layout: PropertyLayout, _ table: inout Columns, _ leaves: inout [CompositeLeaf]
  ) throws {
    guard path.count < 16 else {
      throw PostgreSQLStoreError.model(
        entity: layout.entityName, property: composite.name,
        reason: "composites nest more than 16 levels deep")
    }
    for (number, element) in composite.elements.enumerated() {
      let name = "\(prefix)_\(PostgreSQLNames.snakeCase(element.name))"
      if element.type == .composite {
        try _addElements(
          of: element, name, path + [number], names + [element.name], layout, &table, &leaves)
        continue
      }
      guard element.type != .transformable else {
        throw PostgreSQLStoreError.model(
          entity: layout.entityName, property: "\(composite.name).\(element.name)",
          reason: "an element of a composite cannot be transformable; make it an attribute of its own")
      }
      let (type, content) = try _column(element, layout)
      let column = try _add(
        _names(name, isGiven: false, layout), type, content, layout, composite.name, to: &table)
      leaves.append(CompositeLeaf(path: path + [number], names: names + [element.name], column: column))
    }
  }

  private func _column(
    _ attribute: AttributeSchema, _ layout: PropertyLayout
  ) throws -> (String, ColumnContent) {
    switch attribute.type.form {
    case .integer16: return ("smallint", .int)
    case .integer32: return ("integer", .int)
    case .integer64: return ("bigint", .int)
    case .boolean: return ("boolean", .bool)
    case .date, .double, .float: return ("double precision", .double)
    case .decimal: return ("numeric", .decimal)
    case .string, .uri: return ("text COLLATE \"C\"", .string)
    case .uuid: return ("uuid", .uuid)
    case .transformable: return ("bytea", .transformable)
    case .binaryData: return ("bytea", .data)
    case .composite, .objectID, .undefined:
      throw PostgreSQLStoreError.model(
        entity: layout.entityName, property: attribute.name,
        reason: "attributes of type \(attribute.type) cannot be stored; make it transient or change it")
    }
  }

  // MARK: Relationships

  private func _toOne(
    _ slot: Int, _ property: PropertyLayout.Slot, _ relationship: PropertyLayout.Relationship,
    _ layout: PropertyLayout, _ table: inout Columns
  ) throws -> SlotStorage {
    let destination = _layout.layout(numbered: relationship.destination)
    let given = property.isHidden ? nil : _given(property, in: layout)
    var base = given ?? PostgreSQLNames.snakeCase(property.name)
    if property.isHidden, let inverse = relationship.inverseSlot {
      // The to-one behind a to-many without inverse is named after the to-many.
      let owner = _layout.layout(numbered: destination.slots[inverse].owner)
      base =
        PostgreSQLNames.snakeCase(owner.entityName) + "_"
        + PostgreSQLNames.snakeCase(destination.slots[inverse].name)
    }
    func add(_ suffix: String, _ type: String, _ content: ColumnContent) throws -> Int {
      try _add(
        _names(base + suffix, isGiven: given != nil, layout), type, content, layout, property.name, to: &table
      )
    }
    let column = try add("_id", "bigint", .foreignKey)
    let isPolymorphic = destination.family.count > 1
    let entityColumn = isPolymorphic ? try add("_entity", "smallint", .foreignEntity) : nil
    var orderColumn: Int?
    if let inverse = relationship.inverseSlot, let other = destination.slots[inverse].relationship,
      other.isToMany, other.isOrdered
    {
      orderColumn = try add("_order", "bigint", .order)
    }
    return .toOne(
      column: column, entityColumn: entityColumn, orderColumn: orderColumn,
      destination: relationship.destination)
  }

  private mutating func _addJoins() throws {
    for layout in _layout.layouts {
      let number = layout.entityNumber
      for slot in layout.slots.indices {
        let property = layout.slots[slot]
        guard property.owner == number, let relationship = property.relationship, relationship.isManyToMany,
          !property.isTransient, let inverse = relationship.inverseSlot
        else { continue }
        let destination = _layout.layout(numbered: relationship.destination)
        let other = destination.slots[inverse].owner
        let isReflexive = number == other && slot == inverse
        // The table is named after one end, independent of the order of entities.
        guard
          isReflexive
            || (layout.entityName, property.name) < (
              _layout.layout(numbered: other).entityName, destination.slots[inverse].name
            )
        else { continue }
        try _addJoin(slot, layout, relationship, inverse: inverse, other: other, isReflexive: isReflexive)
      }
    }
  }

  private mutating func _addJoin(
    _ slot: Int, _ layout: PropertyLayout, _ relationship: PropertyLayout.Relationship, inverse: Int,
    other: Int,
    isReflexive: Bool
  ) throws {
    let property = layout.slots[slot]
    let destination = _layout.layout(numbered: relationship.destination)
    let owner = PostgreSQLNames.snakeCase(layout.entityName)
    let name = try _tableName(
      _given(property, in: layout) ?? "\(owner)_\(PostgreSQLNames.snakeCase(property.name))",
      layout.entityName,
      property.name)
    let member = PostgreSQLNames.snakeCase(_layout.layout(numbered: other).entityName)
    let first = owner
    let second = member == owner ? "other_\(member)" : member
    func column(_ name: String) -> String { PostgreSQLNames.quoted(name) }
    let inverseIsOrdered = destination.slots[inverse].relationship!.isOrdered
    _joins.append(
      JoinTable(
        names: ["\(_schema).\(column(name))"], first: column(first + "_id"), second: column(second + "_id"),
        firstOrder: !isReflexive && inverseIsOrdered ? column(first + "_order") : nil,
        secondOrder: relationship.isOrdered ? column(second + "_order") : nil,
        firstEntity: layout.entityNumber, secondEntity: other, isReflexive: isReflexive,
        rootNumber: layout.rootNumber))
    let join = _joins.count - 1
    _slots[layout.entityNumber - 1][slot] = .manyToMany(
      join: join, ownerIsFirst: true, destination: relationship.destination)
    if isReflexive { return }
    let back = destination.slots[inverse].relationship!.destination
    _slots[other - 1][inverse] = .manyToMany(join: join, ownerIsFirst: false, destination: back)
  }
}
