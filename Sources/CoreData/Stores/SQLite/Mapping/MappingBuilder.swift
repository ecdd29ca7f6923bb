import CoreDataModelSchema

/// Maps a model to tables, columns and join tables.
struct MappingBuilder {
  private let _layout: ModelLayout
  private let _numbers: EntityNumbers
  private var _tables: [TableMapping] = []
  private var _slots: [[SlotStorage]]
  private var _joins: [JoinTable] = []

  /// A column before the columns of its table are sorted.
  private struct Draft {
    /// The name without a number at its end.
    let stem: String
    let column: TableColumn
    let group: Int
    /// The entity that declares the property.
    let owner: Int

    init(
      _ stem: String, _ names: inout NameSupply, type: String, _ content: ColumnContent, group: Int,
      owner: Int
    ) {
      self.stem = stem
      column = TableColumn(name: names.reserve(stem), declaredType: type, content: content)
      self.group = group
      self.owner = owner
    }
  }

  /// The drafts of a slot's columns, by index.
  private struct Places {
    var column: Int
    var entityColumn: Int?
    var orderColumn: Int?
    /// Elements of a composite attribute.
    var leaves: [CompositeLeaf] = []
  }

  static func mapping(for layout: ModelLayout, numbers: EntityNumbers? = nil) throws -> StoreMapping {
    var builder = MappingBuilder(layout, numbers ?? EntityNumbers(count: layout.layouts.count))
    for root in layout.layouts where root.parentNumber == nil { try builder._addTable(root) }
    builder._addJoins()
    StoreMapping.inherit(&builder._slots, layout)
    return StoreMapping(
      dialect: SQLiteDialect(), layout: layout, numbers: builder._numbers, tables: builder._tables,
      joins: builder._joins, slots: builder._slots)
  }

  private init(_ layout: ModelLayout, _ numbers: EntityNumbers) {
    _layout = layout
    _numbers = numbers
    _slots = layout.layouts.map { Array(repeating: SlotStorage.none, count: $0.slots.count) }
  }

  // MARK: Tables

  private mutating func _addTable(_ root: PropertyLayout) throws {
    var names = NameSupply()
    for fixed in [StoreVocabulary.primaryKey, StoreVocabulary.entity, StoreVocabulary.version] {
      _ = names.reserve(fixed)
    }
    var drafts: [Draft] = []
    var places: [(entity: Int, slot: Int, places: Places)] = []
    for number in root.family {
      let layout = _layout.layout(numbered: number)
      for slot in _ownSlots(layout, where: { $0.isAttribute && !$0.isTransient }) {
        let attribute = layout.slots[slot].attribute!
        if attribute.type == .composite {
          var place = Places(column: -1)
          try _addElements(of: attribute, in: layout, path: [], names: [], &drafts, &names, &place.leaves)
          places.append((number, slot, place))
          continue
        }
        let (content, type, group) = try _column(attribute, in: layout)
        drafts.append(
          Draft(
            StoreVocabulary.name(attribute.name), &names, type: type, content, group: group, owner: number))
        places.append((number, slot, Places(column: drafts.count - 1)))
      }
      for slot in _ownSlots(layout, where: { $0.isToOne && !$0.isTransient }) {
        places.append((number, slot, _addToOne(slot, in: layout, &drafts, &names)))
      }
    }
    // Order columns follow all integers, sorted by name.
    var orders: [(draft: Draft, place: Int)] = []
    for index in places.indices {
      let layout = _layout.layout(numbered: places[index].entity)
      guard let relationship = layout.slots[places[index].slot].relationship, _isOrderedByOwner(relationship)
      else {
        continue
      }
      let name = "Z_FOK_" + _columnStem(places[index].slot, in: layout)
      let draft = Draft(name, &names, type: "INTEGER", .order, group: 1, owner: layout.entityNumber)
      orders.append((draft, index))
    }
    orders = orders.ordered { $0.draft.column.name < $1.draft.column.name }
    for order in orders {
      drafts.append(order.draft)
      places[order.place].places.orderColumn = drafts.count - 1
    }
    _finishTable(root, drafts, places)
  }

  private mutating func _finishTable(
    _ root: PropertyLayout, _ drafts: [Draft], _ places: [(entity: Int, slot: Int, places: Places)]
  ) {
    // Stable by group: within a group, in traversal order of the entities.
    let order = drafts.indices.ordered { (drafts[$0].group, $0) < (drafts[$1].group, $1) }
    var index = Array(repeating: 0, count: drafts.count)
    for (position, draft) in order.enumerated() { index[draft] = position }
    for (entity, slot, place) in places {
      if let relationship = _layout.layout(numbered: entity).slots[slot].relationship {
        _slots[entity - 1][slot] = .toOne(
          column: index[place.column], entityColumn: place.entityColumn.map { index[$0] },
          orderColumn: place.orderColumn.map { index[$0] }, destination: relationship.destination)
      } else if place.column < 0 {
        _slots[entity - 1][slot] = .composite(
          place.leaves.map { CompositeLeaf(path: $0.path, names: $0.names, column: index[$0.column]) })
      } else {
        _slots[entity - 1][slot] = .attribute(column: index[place.column])
      }
    }
    _tables.append(
      TableMapping(
        rootNumber: root.entityNumber, name: StoreVocabulary.quoted(StoreVocabulary.name(root.entityName)),
        columns: order.map {
          let column = drafts[$0].column
          return TableColumn(
            name: StoreVocabulary.quoted(column.name), declaredType: column.declaredType,
            content: column.content)
        },
        hasSubentities: root.family.count > 1,
        numbered: NumberedColumns.groups(
          of: order.map { (drafts[$0].stem, drafts[$0].column.name, drafts[$0].owner) })))
  }

  /// Adds a column for each element, in declared order, named after the element alone.
  private func _addElements(
    of composite: AttributeSchema, in layout: PropertyLayout, path: [Int], names taken: [String],
    _ drafts: inout [Draft], _ names: inout NameSupply, _ leaves: inout [CompositeLeaf]
  ) throws {
    guard path.count < 16 else {
      throw UnsupportedModelError(
        entity: layout.entityName, property: composite.name,
        reason: "composites nest more than 16 levels deep")
    }
    for (number, element) in composite.elements.enumerated() {
      let (path, taken) = (path + [number], taken + [element.name])
      if element.type == .composite {
        try _addElements(of: element, in: layout, path: path, names: taken, &drafts, &names, &leaves)
        continue
      }
      guard element.type != .transformable else {
        throw UnsupportedModelError(
          entity: layout.entityName, property: "\(composite.name).\(element.name)",
          reason: "an element of a composite cannot be transformable here; make it an attribute of its own")
      }
      let (content, type, group) = try _column(element, in: layout)
      drafts.append(
        Draft(
          StoreVocabulary.name(element.name), &names, type: type,
          content == .externalData ? .data : content, group: group, owner: layout.entityNumber))
      leaves.append(CompositeLeaf(path: path, names: taken, column: drafts.count - 1))
    }
  }

  private func _addToOne(
    _ slot: Int, in layout: PropertyLayout, _ drafts: inout [Draft], _ names: inout NameSupply
  ) -> Places {
    let stem = _columnStem(slot, in: layout)
    drafts.append(
      Draft("Z" + stem, &names, type: "INTEGER", .foreignKey, group: 0, owner: layout.entityNumber))
    var places = Places(column: drafts.count - 1)
    let destination = layout.slots[slot].relationship!.destination
    if _layout.layout(numbered: destination).family.count > 1 {
      let name = "Z\(_numbers.stored(for: destination))_" + stem
      drafts.append(
        Draft(name, &names, type: "INTEGER", .foreignEntity, group: 0, owner: layout.entityNumber))
      places.entityColumn = drafts.count - 1
    }
    return places
  }

  /// Returns the upper-case name of a to-one; a hidden one for a to-many without inverse is named after its
  /// owner's number.
  private func _columnStem(_ slot: Int, in layout: PropertyLayout) -> String {
    let property = layout.slots[slot]
    guard property.isHidden, let relationship = property.relationship, let inverse = relationship.inverseSlot
    else {
      return property.name.uppercased()
    }
    let owner = _layout.layout(numbered: relationship.destination)
    return "\(_numbers.stored(for: owner.slots[inverse].owner))" + owner.slots[inverse].name.uppercased()
  }

  private func _isOrderedByOwner(_ relationship: PropertyLayout.Relationship) -> Bool {
    guard let inverse = relationship.inverseSlot,
      let other = _layout.layout(numbered: relationship.destination).slots[inverse].relationship
    else { return false }
    return other.isToMany && other.isOrdered
  }

  /// Returns the slots declared by an entity itself, in column order, hidden ones last.
  private func _ownSlots(_ layout: PropertyLayout, where isIncluded: (PropertyLayout.Slot) -> Bool) -> [Int] {
    layout.slots.indices
      .filter { layout.slots[$0].owner == layout.entityNumber && isIncluded(layout.slots[$0]) }
      .ordered {
        let (left, right) = (layout.slots[$0], layout.slots[$1])
        if left.isHidden != right.isHidden { return !left.isHidden }
        return left.name.utf16.lexicographicallyPrecedes(right.name.utf16)
      }
  }

  private func _column(
    _ attribute: AttributeSchema, in layout: PropertyLayout
  ) throws -> (ColumnContent, String, Int) {
    switch attribute.type.form {
    case .integer16, .integer32, .integer64: return (.int, "INTEGER", 0)
    case .boolean: return (.bool, "INTEGER", 0)
    case .date: return (.double, "TIMESTAMP", 2)
    case .double, .float: return (.double, "FLOAT", 2)
    case .decimal: return (.decimal, "DECIMAL", 3)
    case .string: return (.string, "VARCHAR", 4)
    case .uri: return (.string, "VARCHAR", 5)
    case .uuid: return (.uuid, "BLOB", 6)
    case .transformable: return (.transformable, "BLOB", 7)
    case .binaryData:
      return (attribute.allowsExternalBinaryDataStorage ? .externalData : .data, "BLOB", 8)
    case .composite, .objectID, .undefined:
      throw UnsupportedModelError(
        entity: layout.entityName, property: attribute.name,
        reason:
          "attributes of type \(attribute.type) cannot be stored in SQLite; make it transient or change it"
      )
    }
  }

  // MARK: Join tables

  private mutating func _addJoins() {
    let naming = JoinNaming(_layout, _numbers)
    for root in _layout.layouts where root.parentNumber == nil {
      for number in root.family {
        for slot in JoinNaming.slots(of: _layout.layout(numbered: number)) {
          _addJoin(JoinNaming.Side(number, slot), root, naming)
        }
      }
    }
  }

  private mutating func _addJoin(_ side: JoinNaming.Side, _ root: PropertyLayout, _ naming: JoinNaming) {
    guard naming.isNamedAfter(side), let other = naming.other(of: side) else { return }
    let relationship = _layout.layout(numbered: side.entity).slots[side.slot].relationship!
    let inverse = _layout.layout(numbered: other.entity).slots[other.slot].relationship!
    let isReflexive = side == other
    func table(_ side: JoinNaming.Side) -> String {
      let name = naming.name(of: side).uppercased()
      return StoreVocabulary.quoted("Z_\(_numbers.stored(for: side.entity))\(name)")
    }
    func column(_ prefix: String, _ side: JoinNaming.Side) -> String {
      StoreVocabulary.quoted(prefix + naming.column(of: side))
    }
    _joins.append(
      JoinTable(
        names: isReflexive ? [table(side)] : [table(side), table(other)], first: column("Z_", side),
        second: isReflexive ? StoreVocabulary.reflexive : column("Z_", other),
        firstOrder: !isReflexive && inverse.isOrdered ? column("Z_FOK_", side) : nil,
        secondOrder: relationship.isOrdered ? column("Z_FOK_", other) : nil, firstEntity: side.entity,
        secondEntity: other.entity, isReflexive: isReflexive, rootNumber: root.entityNumber))
    let join = _joins.count - 1
    _slots[side.entity - 1][side.slot] = .manyToMany(
      join: join, ownerIsFirst: true, destination: relationship.destination)
    if !isReflexive {
      _slots[other.entity - 1][other.slot] = .manyToMany(
        join: join, ownerIsFirst: false, destination: inverse.destination)
    }
  }
}

/// The SQLite store cannot store this model.
struct UnsupportedModelError: StoreFailure, CustomStringConvertible {
  let entity: String
  let property: String
  let reason: String

  package var cocoaCode: Int { NSPersistentStoreIncompatibleSchemaError }

  var description: String { "\(entity).\(property): \(reason)" }
}
