import CoreDataModelSchema

/// The content of a column, which determines how cells are read and written.
package enum ColumnContent: Sendable, Hashable {
  case int
  case bool
  case double
  case decimal
  case string
  case uuid
  case transformable
  case data
  /// Bytes with a prefix that indicates whether they are in the row or in an external file.
  case externalData
  /// Primary key of a to-one's destination.
  case foreignKey
  /// Entity number of a to-one's destination.
  case foreignEntity
  /// Position in an ordered relationship.
  case order
}

/// A column of an entity table.
package struct TableColumn: Sendable, Hashable {
  /// The name in SQL, quoted if necessary.
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
  /// Without key, entity and version; in the order of a new table.
  package let columns: [TableColumn]
  /// Whether the entity has subentities, so that rows are distinguished by entity number.
  package let hasSubentities: Bool
  /// Columns whose numbers at the end of their names are a guess in a file of another maker.
  package let numbered: [NumberedColumns]

  package init(
    rootNumber: Int, name: String, columns: [TableColumn], hasSubentities: Bool,
    numbered: [NumberedColumns] = []
  ) {
    self.rootNumber = rootNumber
    self.name = name
    self.columns = columns
    self.hasSubentities = hasSubentities
    self.numbered = numbered
  }
}

/// The storage of a slot of an entity.
package enum SlotStorage: Sendable, Hashable {
  /// Transient: not stored.
  case none
  case attribute(column: Int)
  /// A flattened composite attribute: one column per leaf element.
  case composite([CompositeLeaf])
  /// `entityColumn` stores the entity number of the destination if that has subentities; `orderColumn` the
  /// position in the owner's ordered to-many.
  case toOne(column: Int, entityColumn: Int?, orderColumn: Int?, destination: Int)
  /// A to-many stored as the to-one in slot `inverse` of entity `destination`.
  case oneToMany(destination: Int, inverse: Int)
  /// A to-many stored in a join table; `ownerIsFirst` selects the column with this entity's keys.
  case manyToMany(join: Int, ownerIsFirst: Bool, destination: Int)
}

/// Column of one element of a composite attribute.
package struct CompositeLeaf: Sendable, Hashable {
  /// Element numbers along the path through nested composites.
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

/// A table of key pairs.
package struct JoinTable: Sendable, Hashable {
  /// Possible names of the table; a new one takes the first.
  package var names: [String]
  /// The column that references the entity after which the table is named.
  package var first: String
  package var second: String
  /// Order of the members in `first`, for the relationship they belong to.
  package var firstOrder: String?
  package var secondOrder: String?
  package let firstEntity: Int
  package let secondEntity: Int
  /// Whether both ends are one relationship: each pair is stored in both directions.
  package let isReflexive: Bool
  /// Root entity of the table after which Core Data creates this one.
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

  /// Returns the columns from one end's perspective: the owner's, the members', and the members' order.
  package func ends(ownerIsFirst: Bool) -> (owner: String, member: String, order: String?) {
    ownerIsFirst ? (first, second, secondOrder) : (second, first, firstOrder)
  }
}

/// Maps a model to the tables and columns of a database.
package final class StoreMapping: Sendable {
  package let dialect: any SQLDialect
  package let layout: ModelLayout
  package let numbers: EntityNumbers
  /// Sorted by root entity number.
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

  /// Returns the table with an entity's rows.
  package func table(of entityNumber: Int) -> TableMapping {
    tables[_tableIndex[layout.layout(numbered: entityNumber).rootNumber]!]
  }

  package func storage(of slot: Int, in entityNumber: Int) -> SlotStorage { slots[entityNumber - 1][slot] }

  package func column(_ index: Int, of entityNumber: Int) -> TableColumn {
    table(of: entityNumber).columns[index]
  }

  /// Returns the mapping with the names of a file.
  package func with(_ tables: [TableMapping], _ joins: [JoinTable]) -> StoreMapping {
    StoreMapping(
      dialect: dialect, layout: layout, numbers: numbers, tables: tables, joins: joins, slots: slots)
  }

  /// Copies the storage of inherited slots to every entity, and assigns to-manys the storage of their inverse.
  package static func inherit(_ slots: inout [[SlotStorage]], _ layout: ModelLayout) {
    for entity in layout.layouts {
      let number = entity.entityNumber
      for (slot, property) in entity.slots.enumerated() {
        if property.owner != number {
          slots[number - 1][slot] = slots[property.owner - 1][slot]
        } else if let relationship = property.relationship, relationship.isToMany, !relationship.isManyToMany,
          !property.isTransient, let inverse = relationship.inverseSlot
        {
          slots[number - 1][slot] = .oneToMany(destination: relationship.destination, inverse: inverse)
        }
      }
    }
  }
}
