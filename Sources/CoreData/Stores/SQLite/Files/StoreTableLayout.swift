import CoreDataModelSchema

/// The contents of a store file's tables and columns, for tools that inspect the file itself.
///
/// Names are in SQL form, quoted where necessary; entities are model entity numbers, which `storedNumber`
/// maps to Z_ENT in the file.
package struct StoreTableLayout: Sendable {
  /// A column of an attribute, or of one element of a composite attribute.
  package struct AttributeColumn: Sendable {
    /// The declaring entity; its rows and those of its subentities have the attribute.
    package let owner: Int
    /// Elements include the composite's name: `size.width`.
    package let property: String
    package let column: String
    package let attribute: AttributeSchema
    /// Whether cells have a prefix and may reference a file beside the store.
    package let isExternal: Bool
  }

  /// The columns of a to-one relationship.
  package struct ToOneColumns: Sendable {
    package let owner: Int
    package let property: String
    /// Whether the engine added the relationship as inverse of a to-many without one.
    package let isHidden: Bool
    package let isOptional: Bool
    package let column: String
    /// Stores Z_ENT of the destination if that can vary.
    package let entityColumn: String?
    /// Stores the position in the other end's ordered to-many.
    package let orderColumn: String?
    package let destination: Int
    /// The other end's column in the destination's table, if that is a to-one as well.
    package let inverseColumn: String?
    package let inverseEntityColumn: String?
    package let inverseName: String?
  }

  /// The table of a root entity and its subentities.
  package struct Table: Sendable {
    package let name: String
    /// Root first, then its subentities depth-first.
    package let entities: [Int]
    package let attributes: [AttributeColumn]
    package let toOnes: [ToOneColumns]
    package var root: Int { entities[0] }
    package var hasSubentities: Bool { entities.count > 1 }
  }

  /// A table of key pairs.
  package struct Join: Sendable {
    package let name: String
    package let first: String
    package let second: String
    package let firstOrder: String?
    package let secondOrder: String?
    package let firstEntity: Int
    package let secondEntity: Int
    /// Whether both ends are one relationship: each pair is stored in both directions.
    package let isReflexive: Bool
    /// The `Entity.relationship` whose members are in `second`.
    package let property: String
  }

  /// The storage of a to-many relationship.
  package enum ToMany: Sendable {
    /// In columns of the members' table.
    case columns(table: String, key: String, entity: String?, order: String?, destination: Int)
    /// In a table of key pairs.
    case pairs(table: String, owner: String, member: String, order: String?, isReflexive: Bool)
  }

  package let layout: ModelLayout
  package let tables: [Table]
  package let joins: [Join]
  private let _mapping: StoreMapping

  init(_ mapping: StoreMapping) {
    _mapping = mapping
    layout = mapping.layout
    tables = mapping.tables.map { Self._table($0, mapping) }
    joins = mapping.joins.enumerated().map { Self._join($1, number: $0, mapping) }
  }

  /// Returns the file's Z_ENT for an entity.
  package func storedNumber(of entity: Int) -> Int { _mapping.numbers.stored(for: entity) }

  /// Returns the model entity with this Z_ENT.
  package func entity(stored: Int64) -> Int? { _mapping.numbers.number(forStored: stored) }

  /// Returns the table with an entity's rows.
  package func table(of entity: Int) -> Table {
    let root = layout.layout(numbered: entity).rootNumber
    return tables.first { $0.root == root }!
  }

  /// Returns the storage of a to-many; nil for any other slot, or a transient one.
  package func toMany(_ slot: Int, of entity: Int) -> ToMany? {
    switch _mapping.storage(of: slot, in: entity) {
    case .oneToMany(let destination, let inverse):
      guard
        case .toOne(let key, let entityColumn, let order, _) = _mapping.storage(of: inverse, in: destination)
      else { return nil }
      let table = _mapping.table(of: destination)
      return .columns(
        table: table.name, key: table.columns[key].name, entity: entityColumn.map { table.columns[$0].name },
        order: order.map { table.columns[$0].name }, destination: destination)
    case .manyToMany(let join, let ownerIsFirst, _):
      let table = _mapping.joins[join]
      let ends = table.ends(ownerIsFirst: ownerIsFirst)
      return .pairs(
        table: table.name, owner: ends.owner, member: ends.member, order: ends.order,
        isReflexive: table.isReflexive)
    case .none, .attribute, .composite, .toOne: return nil
    }
  }

  /// Whether a trigger is one of a derived attribute of the model, with Core Data's text.
  package func isDerivedTrigger(_ sql: String) -> Bool {
    DerivedTriggers(_mapping).texts.contains(SchemaText.bare(sql))
  }

  private static func _table(_ table: TableMapping, _ mapping: StoreMapping) -> Table {
    let family = mapping.layout.layout(numbered: table.rootNumber).family
    var attributes: [AttributeColumn] = []
    var toOnes: [ToOneColumns] = []
    for number in family {
      let layout = mapping.layout.layout(numbered: number)
      for (slot, property) in layout.slots.enumerated() where property.owner == number {
        switch mapping.storage(of: slot, in: number) {
        case .attribute(let column):
          attributes.append(
            _attribute(property.attribute!, property.name, number, table.columns[column]))
        case .composite(let leaves):
          for leaf in leaves {
            var element = property.attribute!
            for step in leaf.path { element = element.elements[step] }
            attributes.append(
              _attribute(
                element, ([property.name] + leaf.names).joined(separator: "."), number,
                table.columns[leaf.column]))
          }
        case .toOne(let column, let entityColumn, let orderColumn, let destination):
          let names = (
            column: table.columns[column].name, entity: entityColumn.map { table.columns[$0].name }
          )
          let order = orderColumn.map { table.columns[$0].name }
          toOnes.append(_toOne(property, number, names, order, destination, mapping))
        case .none, .oneToMany, .manyToMany: break
        }
      }
    }
    return Table(name: table.name, entities: family, attributes: attributes, toOnes: toOnes)
  }

  private static func _attribute(
    _ attribute: AttributeSchema, _ property: String, _ owner: Int, _ column: TableColumn
  ) -> AttributeColumn {
    AttributeColumn(
      owner: owner, property: property, column: column.name, attribute: attribute,
      isExternal: column.content == .externalData)
  }

  private static func _toOne(
    _ property: PropertyLayout.Slot, _ owner: Int, _ names: (column: String, entity: String?),
    _ order: String?,
    _ destination: Int, _ mapping: StoreMapping
  ) -> ToOneColumns {
    var inverse: (column: String, entity: String?, name: String)?
    if let slot = property.relationship?.inverseSlot,
      case .toOne(let column, let entityColumn, _, _) = mapping.storage(of: slot, in: destination)
    {
      let columns = mapping.table(of: destination).columns
      inverse = (
        columns[column].name, entityColumn.map { columns[$0].name },
        mapping.layout.layout(numbered: destination).slots[slot].name
      )
    }
    return ToOneColumns(
      owner: owner, property: property.name, isHidden: property.isHidden, isOptional: property.isOptional,
      column: names.column, entityColumn: names.entity, orderColumn: order, destination: destination,
      inverseColumn: inverse?.column, inverseEntityColumn: inverse?.entity, inverseName: inverse?.name)
  }

  private static func _join(_ join: JoinTable, number: Int, _ mapping: StoreMapping) -> Join {
    let layout = mapping.layout.layout(numbered: join.firstEntity)
    let slot = layout.slots.indices.first { slot in
      guard case .manyToMany(number, let ownerIsFirst, _) = mapping.storage(of: slot, in: join.firstEntity)
      else {
        return false
      }
      return ownerIsFirst
    }
    let property = slot.map { "\(layout.entityName).\(layout.slots[$0].name)" } ?? layout.entityName
    return Join(
      name: join.name, first: join.first, second: join.second, firstOrder: join.firstOrder,
      secondOrder: join.secondOrder, firstEntity: join.firstEntity, secondEntity: join.secondEntity,
      isReflexive: join.isReflexive, property: property)
  }
}
