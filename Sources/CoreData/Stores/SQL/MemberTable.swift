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
  /// What a statement selects to read members: the owner's key, the member's key and, if it can vary, the number of
  /// the member's entity. `t0` is this table, and `t1` the members' own if that is another.
  package let columns: String
  package let from: String

  /// Nil for a slot that is not a stored to-many.
  package init?(slot: Int, in layout: PropertyLayout, _ mapping: StoreMapping) {
    let (key, entity) = (mapping.dialect.keyColumn, mapping.dialect.entityColumn)
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let column, _, let order, _) = mapping.storage(of: inverse, in: destination) else {
        return nil
      }
      let members = mapping.table(of: destination)
      (name, owner, member) = (members.name, members.columns[column].name, key)
      position = order.map { members.columns[$0].name }
      (isOfMembers, self.destination, isPolymorphic) = (true, destination, members.hasSubentities)
      columns = "t0.\(owner), t0.\(member)" + (isPolymorphic ? ", t0.\(entity)" : "")
      from = "\(name) t0"
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = mapping.joins[index]
      let members = mapping.table(of: destination)
      name = join.name
      (owner, member, position) = join.ends(ownerIsFirst: ownerIsFirst)
      (isOfMembers, self.destination, isPolymorphic) = (false, destination, members.hasSubentities)
      columns = "t0.\(owner), t0.\(member)" + (isPolymorphic ? ", t1.\(entity)" : "")
      from = "\(name) t0" + (isPolymorphic ? " JOIN \(members.name) t1 ON t0.\(member) = t1.\(key)" : "")
    case .none, .attribute, .toOne, .composite: return nil
    }
  }
}
