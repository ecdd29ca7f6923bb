import CoreData
import CoreDataModelSchema

/// Which changes of objects whose members change are conflicts.
///
/// An owner of a to-many has no column for it: the members are stored in their own rows, or in pairs. Two programs that
/// add members to one owner do not overwrite each other, and a program that changes an attribute of the owner meanwhile
/// overwrites neither. So the store applies these to the row that it finds, and steps its version, by which others
/// notice. An order is stored for all members together; its changes, and those of a relationship whose user info asks
/// for it, conflict.
struct PostgreSQLOwnerRules: Sendable {
  /// Key in the user info of a to-many relationship; with the value `owner`, changes of its members conflict.
  static let userInfoKey = "postgresql.conflicts"

  /// Slots whose changes are applied to any version of the row, by entity number - 1.
  private let _members: [SlotSet]
  /// Slots whose values may differ from the base's in a row of another version, to which other changes are applied; nil
  /// for entities whose version also stands for members. By entity number - 1.
  private let _computed: [SlotSet?]
  /// Slots whose values the version does not stand for, by entity number - 1.
  private let _unversioned: [SlotSet]

  init(_ layout: ModelLayout) {
    var members: [SlotSet] = []
    var computed: [SlotSet?] = []
    var unversioned: [SlotSet] = []
    for entity in layout.layouts {
      let toManys = entity.toManySlots
      let free = toManys.filter { !Self._conflicts(entity.slots[$0], layout) }
      let transient = SlotSet(entity.slots.indices.filter { entity.slots[$0].isTransient })
      members.append(SlotSet(free).union(transient))
      // Triggers write derived attributes without stepping the version.
      unversioned.append(SlotSet(entity.derivedSlots).union(transient))
      computed.append(free.count == toManys.count ? unversioned.last : nil)
    }
    (_members, _computed, _unversioned) = (members, computed, unversioned)
  }

  private static func _conflicts(_ slot: PropertyLayout.Slot, _ layout: ModelLayout) -> Bool {
    if slot.relationship?.isOrdered ?? false { return true }
    let owner = layout.layout(numbered: slot.owner).entityName
    let relationships = layout.schema.entities.first { $0.name == owner }?.relationships ?? []
    return relationships.contains { $0.name == slot.name && $0.traits.userInfo[userInfoKey] == "owner" }
  }

  /// Whether an update can be applied to a row of another version than its base.
  func allow(_ update: ChangeSet.Update, over stored: Row) -> Bool {
    let layout = update.id.space.layout
    if update.changed.isEmpty { return false }
    if update.changed.isSubset(of: _members[layout.entityNumber - 1]) { return true }
    guard let computed = _computed[layout.entityNumber - 1] else { return false }
    return update.base.slots(differingIn: stored, layout).isSubset(of: computed)
  }

  /// Whether two rows have the same values of what the version stands for, other than members.
  func haveSameValues(_ one: Row, _ other: Row, _ layout: PropertyLayout) -> Bool {
    one.slots(differingIn: other, layout).isSubset(of: _unversioned[layout.entityNumber - 1])
  }
}
