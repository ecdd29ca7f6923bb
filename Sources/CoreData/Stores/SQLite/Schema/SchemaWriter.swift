import CoreDataModelSchema

/// The SQL that creates a new store, with Core Data's wording and order: entity tables, each followed by its
/// join tables, indexes table by table, then the system tables.
struct SchemaWriter {
  private let _mapping: StoreMapping

  init(_ mapping: StoreMapping) { _mapping = mapping }

  /// Returns all statements for a new store.
  func statements() throws -> [String] {
    var result: [String] = []
    for table in _mapping.tables {
      result.append(createTable(table))
      result += _joins(of: table).map(createJoinTable)
    }
    for table in _mapping.tables { result += try indexes(of: table) }
    for table in _mapping.tables { result += try DerivedTriggers(_mapping).statements(of: table) }
    return result + Self.systemTables
  }

  static let systemTables = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  func createTable(_ table: TableMapping) -> String {
    let fixed = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    let columns = fixed + table.columns.map { "\($0.name) \($0.declaredType)" }
    return "CREATE TABLE \(table.name) ( \(columns.joined(separator: ", ")) )"
  }

  func createJoinTable(_ join: JoinTable) -> String {
    let orders = [join.firstOrder, join.secondOrder].compactMap { $0 }
    let columns = ([join.first, join.second] + orders).map { "\($0) INTEGER" }.joined(separator: ", ")
    return "CREATE TABLE \(join.name) ( \(columns), PRIMARY KEY (\(join.first), \(join.second)) )"
  }

  /// Returns the indexes of a table: to-ones, Z_ENT, its join tables, then the model's, entity by entity.
  func indexes(of table: TableMapping) throws -> [String] {
    var names = NameSupply()
    var result = table.columns.filter { $0.content == .foreignKey }
      .map { _index(names.reserve("\(table.name)_\($0.name)_INDEX"), on: table.name, [$0.name]) }
    if table.hasSubentities {
      result.append(_index(names.reserve("\(table.name)_Z_ENT_INDEX"), on: table.name, ["Z_ENT"]))
    }
    for join in _joins(of: table) {
      result.append(
        _index(
          names.reserve("\(join.name)_\(join.second)_INDEX"), on: join.name, [join.second, join.first]))
    }
    for number in _mapping.layout.layout(numbered: table.rootNumber).family {
      result += try _modelIndexes(of: number, table, &names)
    }
    return result
  }

  private func _joins(of table: TableMapping) -> [JoinTable] {
    _mapping.joins.filter { $0.rootNumber == table.rootNumber }
  }

  private func _modelIndexes(
    of number: Int, _ table: TableMapping, _ names: inout NameSupply
  ) throws -> [String] {
    let layout = _mapping.layout.layout(numbered: number)
    guard let entity = _mapping.layout.schema.entities.first(where: { $0.name == layout.entityName }) else {
      return []
    }
    var result: [String] = []
    // Core Data also creates a separate index for an attribute that is the only element of a model index;
    // these follow the order of the indexes.
    let attributes = Dictionary(
      entity.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var indexed = entity.attributes.filter { $0.isIndexed && !$0.isTransient }.map(\.name)
      .ordered(by: StoreVocabulary.precedes)
    for index in entity.indexes where index.elements.count == 1 && index.partialIndexPredicate == nil {
      let element = index.elements[0]
      guard let name = element.property, !element.isRTree, element.isAscending,
        let attribute = attributes[name],
        !attribute.isTransient, !indexed.contains(name)
      else { continue }
      indexed.append(name)
    }
    for name in indexed {
      try _unlessImpossible(name, of: entity) {
        let column = try _column(name, in: layout)
        result.append(_collatedIndex(names.reserve("Z_\(entity.name)_\(name)"), on: table, [(column, true)]))
      }
    }
    for attributes in entity.compoundIndexes where attributes.count > 1 {
      let name = attributes.joined(separator: "_")
      try _unlessImpossible(name, of: entity) {
        let columns = try attributes.map { (try _column($0, in: layout), true) }
        result.append(_collatedIndex(names.reserve("Z_\(entity.name)_\(name)"), on: table, columns))
      }
    }
    for index in entity.indexes where !index.elements.contains(where: \.isRTree) {
      // A single relationship already has an index.
      if index.elements.count == 1, let name = index.elements[0].property, _isToOne(name, in: layout),
        index.partialIndexPredicate == nil
      {
        continue
      }
      try _unlessImpossible(index.name, of: entity) {
        let columns = try index.elements.map { element in
          guard let property = element.property else {
            throw UnsupportedModelError(
              entity: entity.name, property: index.name,
              reason: "an index over an expression cannot be made here")
          }
          return (try _column(property, in: layout), element.isAscending)
        }
        let condition = try _condition(of: index, entity, layout)
        // An index named after its attribute may exist for the attribute itself.
        let name = "Z_\(entity.name)_\(index.name)"
        if columns.isEmpty || result.contains(_collatedIndex(name, on: table, columns) + condition) { return }
        result.append(_collatedIndex(names.reserve(name), on: table, columns) + condition)
      }
    }
    for constraint in entity.uniquenessConstraints where !constraint.isEmpty {
      let columns = try constraint.map { (try _column($0, in: layout), true) }
      let name = names.reserve("Z_\(entity.name)_UNIQUE_\(constraint.joined(separator: "_"))")
      result.append(_collatedIndex(name, on: table, columns, isUnique: true))
    }
    return result
  }

  /// Returns the R-tree indexes of a table. Those that SQLite cannot have are skipped and logged.
  func spatialIndexes(of table: TableMapping) throws -> [SpatialIndex] {
    var result: [SpatialIndex] = []
    for number in _mapping.layout.layout(numbered: table.rootNumber).family {
      let layout = _mapping.layout.layout(numbered: number)
      guard let entity = _mapping.layout.schema.entities.first(where: { $0.name == layout.entityName }) else {
        continue
      }
      for index in entity.indexes where index.elements.contains(where: \.isRTree) {
        try _unlessImpossible(index.name, of: entity) {
          result.append(try _spatialIndex(index, entity, table, layout))
        }
      }
    }
    return result
  }

  private func _spatialIndex(
    _ index: FetchIndexSchema, _ entity: EntitySchema, _ table: TableMapping, _ layout: PropertyLayout
  ) throws -> SpatialIndex {
    func impossible(_ reason: String) -> UnsupportedModelError {
      UnsupportedModelError(entity: entity.name, property: index.name, reason: reason)
    }
    guard index.elements.count <= SpatialIndex.dimensionLimit else {
      throw impossible("an R-tree has at most \(SpatialIndex.dimensionLimit) dimensions")
    }
    guard index.partialIndexPredicate == nil else { throw impossible("an R-tree has no predicate") }
    let columns = try index.elements.map { element in
      guard element.isRTree, let property = element.property, let slot = layout.slot(named: property),
        case .attribute(let column) = _mapping.storage(of: slot, in: layout.entityNumber),
        [.int, .double, .decimal].contains(_mapping.column(column, of: layout.entityNumber).content)
      else { throw impossible("the elements of an R-tree are stored numbers or dates") }
      return StoreVocabulary.plain(_mapping.column(column, of: layout.entityNumber).name)
    }
    return SpatialIndex(
      name: SpatialIndex.name(entity.name, index.name), table: StoreVocabulary.plain(table.name),
      columns: columns)
  }

  /// Adds an index. One that cannot be created is skipped and logged to standard error: indexes speed up
  /// fetches, but never prevent a store from opening.
  private func _unlessImpossible(
    _ index: String, of entity: EntitySchema, _ add: () throws -> Void
  ) throws {
    do {
      try add()
    } catch let error as UnsupportedModelError {
      Console.warnOnce(
        about: "index \(entity.name).\(index)", "the index '\(entity.name).\(index)' is left out: \(error)")
    }
  }

  /// Returns the WHERE clause of a partial index; empty for an index of all rows.
  private func _condition(
    of index: FetchIndexSchema, _ entity: EntitySchema, _ layout: PropertyLayout
  ) throws -> String {
    guard let text = index.partialIndexPredicate, !text.isEmpty else { return "" }
    do {
      return " WHERE " + (try PartialIndexCondition(text) { try _column($0, in: layout) }.sql)
    } catch let refusal as PartialIndexCondition.Refusal {
      throw UnsupportedModelError(entity: entity.name, property: index.name, reason: refusal.reason)
    }
  }

  private func _column(_ property: String, in layout: PropertyLayout) throws -> String {
    guard let slot = layout.slot(named: property) else {
      throw UnsupportedModelError(
        entity: layout.entityName, property: property,
        reason: "named by an index but not a property of the entity")
    }
    switch _mapping.storage(of: slot, in: layout.entityNumber) {
    case .attribute(let column), .toOne(let column, _, _, _):
      return _mapping.column(column, of: layout.entityNumber).name
    case .none, .oneToMany, .manyToMany, .composite:
      throw UnsupportedModelError(
        entity: layout.entityName, property: property,
        reason: "named by an index but not stored in a column; index attributes and to-one relationships only"
      )
    }
  }

  private func _isToOne(_ property: String, in layout: PropertyLayout) -> Bool {
    guard let slot = layout.slot(named: property) else { return false }
    return layout.slots[slot].isToOne
  }

  private func _index(_ name: String, on table: String, _ columns: [String]) -> String {
    "CREATE INDEX \(_quotedWhole(name)) ON \(table) (\(columns.joined(separator: ", ")))"
  }

  private func _collatedIndex(
    _ name: String, on table: TableMapping, _ columns: [(name: String, isAscending: Bool)],
    isUnique: Bool = false
  ) -> String {
    let list = columns.map { "\($0.name) COLLATE BINARY \($0.isAscending ? "ASC" : "DESC")" }
    return
      "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(_quotedWhole(name)) "
      + "ON \(table.name) (\(list.joined(separator: ", ")))"
  }

  /// Quotes a name composed of quoted parts as a whole.
  private func _quotedWhole(_ name: String) -> String {
    StoreVocabulary.quoted(name.replacing("\"", with: ""))
  }
}
