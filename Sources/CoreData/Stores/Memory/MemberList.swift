/// The members of one owner's many-to-many relationship, in their order; each change costs the same however many
/// there are.
struct MemberList {
  private var _members: [ObjectKey?] = []
  private var _places: [ObjectKey: Int] = [:]

  init() {}

  /// - Parameter members: Distinct keys.
  init(_ members: [ObjectKey]) {
    _members = members
    for (place, member) in members.enumerated() { _places[member] = place }
  }

  var members: [ObjectKey] { _members.compactMap { $0 } }

  mutating func append(_ member: ObjectKey) {
    guard _places[member] == nil else { return }
    _places[member] = _members.count
    _members.append(member)
  }

  mutating func remove(_ member: ObjectKey) {
    guard let place = _places.removeValue(forKey: member) else { return }
    _members[place] = nil
    if _members.count > 2 * _places.count + 16 { self = MemberList(members) }
  }
}
