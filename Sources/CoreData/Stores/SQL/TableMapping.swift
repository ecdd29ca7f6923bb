import CoreDataModelSchema

/// What a column holds, which decides how a cell is read and written.
package enum ColumnContent: Sendable, Hashable {
  case int
  case bool
  case double
  case decimal
  case string
  case uuid
  case transformable
  case data
  /// Bytes behind a prefix that tells whether they stand in the row or in a file beside the store.
  case externalData
  /// Primary key of a to-one's destination.
  case foreignKey
  /// Number of the entity of a to-one's destination.
  case foreignEntity
  /// Position in an ordered relationship.
  case order
}

/// A column of an entity table.
package struct TableColumn: Sendable, Hashable {
  /// As in SQL, quoted if need be.
  package let name: String
  package let declaredType: String
  package let content: ColumnContent

  package init(name: String, declaredType: String, content: ColumnContent) {
    self.name = name
    self.declaredType = declaredType
    self.content = content
  }
}

/// The table of a root entity and all its subentities.
package struct TableMapping: Sendable {
  package let rootNumber: Int
  package let name: String
  /// Without key, entity and version, in the order in which a new table has them.
  package let columns: [TableColumn]
  /// Whether there are subentities, so that the entity's number tells rows apart.
  package let hasSubentities: Bool

  package init(rootNumber: Int, name: String, columns: [TableColumn], hasSubentities: Bool) {
    self.rootNumber = rootNumber
    self.name = name
    self.columns = columns
    self.hasSubentities = hasSubentities
  }
}

/// Where one slot of one entity is stored.
package enum SlotStorage: Sendable, Hashable {
  /// Transient: nowhere.
  case none
  case attribute(column: Int)
  /// A composite attribute, flattened: a column for each element that is no composite itself.
  case composite([CompositeLeaf])
  /// `entityColumn` holds the number of the destination's entity when the destination has subentities; `orderColumn` the
  /// place in the owner's ordered to-many.
  case toOne(column: Int, entityColumn: Int?, orderColumn: Int?, destination: Int)
  /// A to-many stored as the to-one in slot `inverse` of entity `destination`.
  case oneToMany(destination: Int, inverse: Int)
  /// A to-many stored in a join table; `ownerIsFirst` tells which column holds this entity's keys.
  case manyToMany(join: Int, ownerIsFirst: Bool, destination: Int)
}

/// Column of one element of a composite attribute.
package struct CompositeLeaf: Sendable, Hashable {
  /// Number of the element in the composite, and so on in composites inside it.
  package let path: [Int]
  /// The elements' names along the path.
  package let names: [String]
  package let column: Int

  package init(path: [Int], names: [String], column: Int) {
    self.path = path
    self.names = names
    self.column = column
  }
}

/// A table of pairs of keys.
package struct JoinTable: Sendable, Hashable {
  /// Names that the table may have; a new one takes the first.
  package var names: [String]
  /// Column that points at the rows of the entity the table is named after.
  package let first: String
  package let second: String
  /// Order of the members in `first`, for the relationship whose members they are.
  package let firstOrder: String?
  package let secondOrder: String?
  package let firstEntity: Int
  package let secondEntity: Int
  /// Both ends are one relationship: each pair stands there both ways.
  package let isReflexive: Bool
  /// Root entity of the table behind which Core Data creates it.
  package let rootNumber: Int

  package init(
    names: [String], first: String, second: String, firstOrder: String?, secondOrder: String?,
    firstEntity: Int, secondEntity: Int, isReflexive: Bool, rootNumber: Int
  ) {
    self.names = names
    self.first = first
    self.second = second
    self.firstOrder = firstOrder
    self.secondOrder = secondOrder
    self.firstEntity = firstEntity
    self.secondEntity = secondEntity
    self.isReflexive = isReflexive
    self.rootNumber = rootNumber
  }

  package var name: String { names[0] }

  /// Columns as seen from one end: the owner's, the members', and the members' order.
  package func ends(ownerIsFirst: Bool) -> (owner: String, member: String, order: String?) {
    ownerIsFirst ? (first, second, secondOrder) : (second, first, firstOrder)
  }
}

/// How a model is laid out in the tables and columns of a database.
package final class StoreMapping: Sendable {
  package let dialect: any SQLDialect
  package let layout: ModelLayout
  package let numbers: EntityNumbers
  /// In the order of their roots' numbers.
  package let tables: [TableMapping]
  package let joins: [JoinTable]
  /// Storage of each slot, by entity number - 1.
  package let slots: [[SlotStorage]]
  private let _tableIndex: [Int: Int]

  package init(
    dialect: any SQLDialect, layout: ModelLayout, numbers: EntityNumbers, tables: [TableMapping],
    joins: [JoinTable], slots: [[SlotStorage]]
  ) {
    self.dialect = dialect
    self.layout = layout
    self.numbers = numbers
    self.tables = tables
    self.joins = joins
    self.slots = slots
    _tableIndex = Dictionary(
      uniqueKeysWithValues: tables.enumerated().map { ($0.element.rootNumber, $0.offset) })
  }

  /// Table that holds the rows of an entity.
  package func table(of entityNumber: Int) -> TableMapping {
    tables[_tableIndex[layout.layout(numbered: entityNumber).rootNumber]!]
  }

  package func storage(of slot: Int, in entityNumber: Int) -> SlotStorage { slots[entityNumber - 1][slot] }

  package func column(_ index: Int, of entityNumber: Int) -> TableColumn {
    table(of: entityNumber).columns[index]
  }

  /// The same mapping with join tables under the names a file has them by.
  package func withJoins(_ joins: [JoinTable]) -> StoreMapping {
    StoreMapping(
      dialect: dialect, layout: layout, numbers: numbers, tables: tables, joins: joins, slots: slots)
  }
}
