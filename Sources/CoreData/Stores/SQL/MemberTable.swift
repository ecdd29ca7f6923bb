import CoreDataModelSchema

/// Where a database has the members of a to-many relationship: in their own table, which has the keys of their
/// owners, or in a join table.
package struct MemberTable: Sendable {
  package let name: String
  /// The column with the owners' keys.
  package let owner: String
  /// The column with the members' keys.
  package let member: String
  /// The column with the members' positions in an ordered relationship.
  package let position: String?
  /// Whether this is the members' own table.
  package let isOfMembers: Bool
  package let destination: Int
  /// Whether the members' own table has rows of several entities.
  package let isPolymorphic: Bool
  /// The members' own table, and its columns of keys and of entity numbers.
  private let _own: (name: String, key: String, entity: String)

  /// Nil for a slot that is not a stored to-many.
  package init?(slot: Int, in layout: PropertyLayout, _ mapping: StoreMapping) {
    let key = mapping.dialect.keyColumn
    func own(_ table: TableMapping) -> (name: String, key: String, entity: String) {
      (table.name, key, mapping.dialect.entityColumn)
    }
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let column, _, let order, _) = mapping.storage(of: inverse, in: destination) else {
        return nil
      }
      let members = mapping.table(of: destination)
      (name, owner, member) = (members.name, members.columns[column].name, key)
      position = order.map { members.columns[$0].name }
      (isOfMembers, self.destination, isPolymorphic) = (true, destination, members.hasSubentities)
      _own = own(members)
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = mapping.joins[index]
      let members = mapping.table(of: destination)
      name = join.name
      (owner, member, position) = join.ends(ownerIsFirst: ownerIsFirst)
      (isOfMembers, self.destination, isPolymorphic) = (false, destination, members.hasSubentities)
      _own = own(members)
    case .none, .attribute, .toOne, .composite: return nil
    }
  }

  /// What a statement selects to read members: the owner's key, the member's key and, if it can vary, the number of
  /// the member's entity. `t0` is this table, and `t1` the members' own if that is another.
  package var columns: String {
    let entity = isPolymorphic ? ", \(isOfMembers ? "t0" : "t1").\(_own.entity)" : ""
    return "t0.\(owner), t0.\(member)\(entity)"
  }

  /// The tables of `columns`.
  package var from: String {
    if isOfMembers || !isPolymorphic { return "\(name) t0" }
    return "\(name) t0 JOIN \(_own.name) t1 ON t0.\(member) = t1.\(_own.key)"
  }
}
