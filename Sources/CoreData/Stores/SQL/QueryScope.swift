import CoreDataModelSchema

/// The FROM clause of one SELECT, extended as key paths need more tables.
package final class SelectSource {
  package private(set) var text: String

  package init(_ text: String) { self.text = text }

  package func join(_ clause: String) { text += " " + clause }
}

/// An object in an expression: the evaluated one, the destination of a to-one, a member of a to-many.
///
/// Its primary key is often known without its table, which is joined only when one of its columns is needed.
package final class QueryScope {
  package let layout: PropertyLayout
  /// SQL for the object's primary key.
  package let identity: String
  /// SQL for the object's entity number, if a column beside the key stores it.
  package let entityColumn: String?
  private let _source: SelectSource
  private let _mapping: StoreMapping
  private let _isOuter: Bool
  private var _alias: String?
  private var _destinations: [Int: QueryScope] = [:]

  /// Creates a scope whose table is already in the FROM clause.
  package init(layout: PropertyLayout, alias: String, source: SelectSource, mapping: StoreMapping) {
    self.layout = layout
    identity = "\(alias).\(mapping.dialect.keyColumn)"
    entityColumn = nil
    _source = source
    _mapping = mapping
    _isOuter = false
    _alias = alias
  }

  /// Creates a scope known by its key.
  ///
  /// - Parameter isOuter: Whether the object may be missing, with NULL columns.
  package init(
    layout: PropertyLayout, identity: String, entityColumn: String?, source: SelectSource,
    mapping: StoreMapping,
    isOuter: Bool
  ) {
    self.layout = layout
    self.identity = identity
    self.entityColumn = entityColumn
    _source = source
    _mapping = mapping
    _isOuter = isOuter
  }

  /// Returns the alias of the object's table; joins it on first use.
  package func alias(_ aliases: inout AliasSupply) -> String {
    if let _alias { return _alias }
    let alias = aliases.next()
    let table = _mapping.table(of: layout.entityNumber).name
    let key = "\(alias).\(_mapping.dialect.keyColumn)"
    _source.join("\(_isOuter ? "LEFT OUTER JOIN" : "JOIN") \(table) \(alias) ON \(identity) = \(key)")
    _alias = alias
    return alias
  }

  /// Returns the SQL for the column of an attribute.
  package func column(_ index: Int, _ aliases: inout AliasSupply) -> String {
    "\(alias(&aliases)).\(_mapping.column(index, of: layout.entityNumber).name)"
  }

  /// Returns the SQL for the value of an attribute.
  package func value(_ index: Int, _ aliases: inout AliasSupply) -> String {
    _mapping.dialect.column(column(index, &aliases), _mapping.column(index, of: layout.entityNumber).content)
  }

  /// Returns the SQL for the object's entity number.
  package func entity(_ aliases: inout AliasSupply) -> String {
    entityColumn ?? "\(alias(&aliases)).\(_mapping.dialect.entityColumn)"
  }

  /// Returns the destination of a to-one; cached, so that it is joined once.
  package func destination(of slot: Int, _ aliases: inout AliasSupply) -> QueryScope? {
    if let known = _destinations[slot] { return known }
    guard
      case .toOne(let column, let entityColumn, _, let destination) = _mapping.storage(
        of: slot, in: layout.entityNumber)
    else { return nil }
    let scope = QueryScope(
      layout: _mapping.layout.layout(numbered: destination), identity: self.column(column, &aliases),
      entityColumn: entityColumn.map { self.column($0, &aliases) }, source: _source, mapping: _mapping,
      isOuter: true)
    _destinations[slot] = scope
    return scope
  }
}

/// Generates table aliases: t0, t1 ... .
package struct AliasSupply {
  private var _count = 0

  package mutating func next() -> String {
    defer { _count += 1 }
    return "t\(_count)"
  }
}
