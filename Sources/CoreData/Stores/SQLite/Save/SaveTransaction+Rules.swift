import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Delete rules for rows that other writers have linked to the deleted ones since their members were read.
extension SaveTransaction {
  /// Applies the rules to rows that still point at a deleted one after everything else is written. Runs one
  /// query for each relationship whose other end is stored in a table. Deny can no longer be checked and
  /// clears the link, as Nullify does.
  func followRules(recordingIn entry: HistoryEntry?) throws {
    let deleted = DeleteRules.reaching(changes, mapping.layout)
    if deleted.isEmpty { return }
    var rules = DeleteRules(mapping.layout, deleting: deleted)
    try rules.follow(members: links.members)
    for link in rules.links([.nullify, .deny]) where !link.entity.slots[link.inverse].isHidden {
      try _cut(link, rules)
    }
    cascaded = rules.cascaded
    guard !cascaded.isEmpty else { return }
    _ = try links.delete(
      rules.cascadedKeys.map { ($0.space.layout, $0.keys) }, recordingIn: entry, files: &replacedFiles)
  }

  private func _cut(_ link: DeleteRules.Link, _ rules: DeleteRules) throws {
    let rows = try links.rows(through: link, sparing: rules)
    if rows.isEmpty { return }
    // A save increments the version of a row only once.
    let written = _writtenKeys
    let own = rows.filter { written.contains($0) || cutSlots[$0] != nil }.map(\.reference)
    if !own.isEmpty { try links.clear(link, only: own) }
    try links.clear(link)
    for key in rows { cutSlots[key, default: SlotSet()].insert(link.inverse) }
  }

  /// The rows that the save itself updates or inserts.
  private var _writtenKeys: Set<ObjectKey> {
    Set(changes.updated.compactMap(\.id.key)).union(insertedObjectKeys)
  }

  /// The effects of the rules, with the rows as they are stored now.
  func followedRules() throws -> FollowedRules {
    try FollowedRules(cutting: cutSlots, deleting: cascaded) { try engine.rows(for: $0, on: connection) }
  }
}
