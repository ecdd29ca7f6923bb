import CoreDataModelSchema

/// Applies delete rules to the rows that a store deletes: determines which rows are deleted with them, and
/// through which relationships the remaining rows may still point at one of them. Reads no row itself, so
/// that all engines share it.
///
/// Cascade also deletes the members; Nullify and Deny, and in batches every rule, clear the to-ones that
/// point at a deleted row. Deny is validation, which a store does not repeat.
package struct DeleteRules {
  /// A relationship of deleted rows of one entity, at whose other end a to-one is stored.
  package struct Link {
    /// The entity of the deleted rows, and their relationship.
    package let owner: PropertyLayout
    package let slot: Int
    /// The keys of the deleted rows.
    package let keys: [Int64]
    /// The entity of the rows that may point at them, and the to-one that does.
    package let entity: PropertyLayout
    package let inverse: Int
  }

  /// The deleted rows of one entity.
  private struct Rows {
    let space: ObjectIDSpace
    /// Without duplicates: first the requested ones, then those that rules cascaded to.
    var keys: [Int64] = []
    var set = KeyBitmap()
    var requestedCount = 0

    mutating func add(_ key: Int64) {
      if set.insert(key) { keys.append(key) }
    }
  }

  private let _model: ModelLayout
  /// By the number of the entity. A batch may delete millions: a key and a bit for each.
  private var _rows: [Int: Rows] = [:]
  /// The number of owners whose members are read with one query.
  private static let _slice = 10_000

  package init(_ model: ModelLayout, deleting keys: [ObjectKey] = []) {
    _model = model
    for key in keys { add(key) }
  }

  /// Adds a row to delete. Call it before `follow(members:)`.
  package mutating func add(_ key: ObjectKey) {
    let number = key.space.layout.entityNumber
    _rows[number, default: Rows(space: key.space)].add(key.reference)
    _rows[number]!.requestedCount = _rows[number]!.keys.count
  }

  /// Returns the rows deleted by a save whose entities have a rule to apply to other rows. Most entities have
  /// none, so their rows are not looked at again.
  package static func reaching(_ changes: ChangeSet, _ model: ModelLayout) -> [ObjectKey] {
    var result: [ObjectKey] = []
    var space: ObjectIDSpace?
    var reaches = false
    for index in changes.deleted.indices {
      let id = changes.deleted[index].id
      if id.space !== space {
        space = id.space
        reaches = _reaches(id.space.layout, model)
      }
      if reaches, let key = id.key { result.append(key) }
    }
    for run in changes.rows where _reaches(run.space.layout, model) {
      result += run.keys.map { ObjectKey(space: run.space, reference: $0) }
    }
    return result
  }

  private static func _reaches(_ layout: PropertyLayout, _ model: ModelLayout) -> Bool {
    layout.slots.contains { description in
      guard let relationship = description.relationship, let inverse = relationship.inverseSlot,
        relationship.deleteRule != .noAction
      else { return false }
      let end = model.layout(numbered: relationship.destination).slots[inverse]
      return end.isToOne && !end.isHidden
    }
  }

  /// Whether a row is among the deleted ones.
  package func deletes(_ key: ObjectKey) -> Bool {
    _rows[key.space.layout.entityNumber]?.set.contains(key.reference) ?? false
  }

  /// The deleted rows' keys by entity.
  package var deletedKeys: [(layout: PropertyLayout, keys: [Int64])] {
    _sorted.map { ($0.space.layout, $0.keys) }
  }

  private var _sorted: [Rows] { _rows.ordered { $0.key < $1.key }.map(\.value) }

  /// Visits the deleted rows, by entity.
  package func forEachDeleted(_ body: (ObjectKey) throws -> Void) rethrows {
    for rows in _sorted {
      for key in rows.keys { try body(ObjectKey(space: rows.space, reference: key)) }
    }
  }

  /// The deleted rows, by entity.
  package var deleted: [ObjectKey] {
    var result: [ObjectKey] = []
    forEachDeleted { result.append($0) }
    return result
  }

  /// The keys of the rows that rules cascaded to, by entity.
  package var cascadedKeys: [(space: ObjectIDSpace, keys: [Int64])] {
    _sorted.compactMap { rows in
      rows.keys.count > rows.requestedCount
        ? (rows.space, Array(rows.keys.dropFirst(rows.requestedCount))) : nil
    }
  }

  /// The rows that rules cascaded to, by entity.
  package var cascaded: [ObjectKey] {
    cascadedKeys.flatMap { space, keys in keys.map { ObjectKey(space: space, reference: $0) } }
  }

  /// Adds the rows that the rules of the added ones cascade to.
  ///
  /// - Parameter members: Returns the members of a relationship of some rows of an entity.
  package mutating func follow(
    members: (_ keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey]
  ) rethrows {
    // The keys of each entity whose rules have been applied.
    var followed: [Int: Int] = [:]
    var isComplete = false
    while !isComplete {
      isComplete = true
      for number in _rows.keys.sorted() {
        let (layout, keys) = (_rows[number]!.space.layout, _rows[number]!.keys)
        let start = followed[number] ?? 0
        guard start < keys.count else { continue }
        followed[number] = keys.count
        isComplete = false
        for (slot, description) in layout.slots.enumerated() {
          guard let relationship = description.relationship, !description.isTransient, !description.isHidden,
            relationship.deleteRule == .cascade
          else { continue }
          try Self._forEachSlice(of: keys[start...]) { slice in
            for key in try members(slice, layout, slot) {
              _rows[key.space.layout.entityNumber, default: Rows(space: key.space)].add(key.reference)
            }
          }
        }
      }
    }
  }

  private static func _forEachSlice(
    of keys: ArraySlice<Int64>, _ body: ([Int64]) throws -> Void
  ) rethrows {
    for start in stride(from: keys.startIndex, to: keys.endIndex, by: _slice) {
      try body(Array(keys[start..<min(start + _slice, keys.endIndex)]))
    }
  }

  /// The relationships through which rows may point at deleted ones.
  ///
  /// - Parameter rules: The rules of the relationships to return.
  package func links(_ rules: Set<DeleteRule>) -> [Link] {
    deletedKeys.flatMap { layout, keys in
      layout.slots.enumerated().compactMap { slot, description -> Link? in
        guard let relationship = description.relationship, !description.isTransient,
          rules.contains(relationship.deleteRule), let inverse = relationship.inverseSlot
        else { return nil }
        let entity = _model.layout(numbered: relationship.destination)
        guard entity.slots[inverse].isToOne, !entity.slots[inverse].isTransient else { return nil }
        return Link(owner: layout, slot: slot, keys: keys, entity: entity, inverse: inverse)
      }
    }
  }

  /// Throws if nullify would empty a mandatory relationship of remaining rows. A mandatory to-many that loses
  /// one of several members is not checked, like other counts.
  ///
  /// - Throws: `BatchInverseError`, and errors of `members`.
  package func checkMandatoryInverses(
    members: (_ keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey]
  ) throws {
    for (layout, keys) in deletedKeys {
      for (slot, description) in layout.slots.enumerated() {
        guard let relationship = description.relationship, relationship.deleteRule == .nullify,
          !description.isTransient, !description.isHidden, let inverse = relationship.inverseSlot
        else { continue }
        let destination = _model.layout(numbered: relationship.destination)
        let end = destination.slots[inverse]
        guard !end.isOptional, !end.isHidden, description.isToMany || !end.isToMany else { continue }
        try Self._forEachSlice(of: keys[...]) { slice in
          guard try members(slice, layout, slot).contains(where: { !deletes($0) }) else { return }
          throw BatchInverseError(
            entity: destination.entityName, relationship: end.name,
            kind: description.isToMany ? (end.isToMany ? "MTM" : "OTM") : "OTO")
        }
      }
    }
  }
}

/// The rows that delete rules changed in a store beyond a save, because other writers had linked them to
/// deleted rows meanwhile.
package struct FollowedRules: Sendable {
  /// A row that pointed at a deleted one.
  package struct Cut: Sendable {
    package let key: ObjectKey
    /// The row that is stored now.
    package let row: Row
    /// The to-ones that were cleared.
    package let slots: SlotSet

    package init(key: ObjectKey, row: Row, slots: SlotSet) {
      self.key = key
      self.row = row
      self.slots = slots
    }
  }

  package var cut: [Cut] = []
  /// Rows that rules cascaded to.
  package var deleted: [ObjectKey] = []

  package var isEmpty: Bool { cut.isEmpty && deleted.isEmpty }

  package init() {}

  /// - Parameters:
  ///   - cutSlots: The to-ones that were cleared, by row.
  ///   - rows: Reads rows as they are stored now.
  package init(
    cutting cutSlots: [ObjectKey: SlotSet], deleting deleted: [ObjectKey],
    rows: ([ObjectKey]) throws -> [Row?]
  ) rethrows {
    self.deleted = deleted
    if cutSlots.isEmpty { return }
    for (key, row) in zip(cutSlots.keys, try rows(Array(cutSlots.keys))) {
      if let row { cut.append(Cut(key: key, row: row, slots: cutSlots[key]!)) }
    }
  }

  package static func += (left: inout FollowedRules, right: FollowedRules) {
    left.cut += right.cut
    left.deleted += right.deleted
  }
}
