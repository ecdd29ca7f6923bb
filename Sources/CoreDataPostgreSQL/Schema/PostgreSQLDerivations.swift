import CoreData
import CoreDataModelSchema

/// The derived attributes of a model, and how each of them is maintained.
///
/// The store computes attributes that derive from the row itself when it writes the row. Triggers maintain
/// those that derive from other rows, so that batches and other programs need not.
struct PostgreSQLDerivations: Sendable {
  /// An attribute derived from its own row.
  struct Own: Sendable {
    let slot: Int
    /// Slot that the value derives from; nil for the time of the save.
    let source: Int?
    let function: Derivation.TextFunction?
  }

  /// An attribute derived from other rows.
  struct Distant: Sendable {
    let entity: Int
    let slot: Int
    let derivation: Derivation
  }

  /// By entity number - 1, inherited ones included.
  let own: [[Own]]
  /// Slots that triggers write, by entity number - 1, inherited ones included.
  let distantSlots: [Set<Int>]
  let distant: [Distant]

  static let none = PostgreSQLDerivations(own: [], distantSlots: [], distant: [])

  private init(own: [[Own]], distantSlots: [Set<Int>], distant: [Distant]) {
    self.own = own
    self.distantSlots = distantSlots
    self.distant = distant
  }

  /// - Throws: `UnsupportedModelError`, `PostgreSQLStoreError.model`.
  init(_ layout: ModelLayout) throws {
    var own: [[Own]] = []
    var slots: [Set<Int>] = []
    var distant: [Distant] = []
    for entity in layout.layouts {
      var mine: [Own] = []
      var others: Set<Int> = []
      for slot in entity.slots.indices {
        guard let attribute = entity.slots[slot].attribute, let text = attribute.derivationExpression,
          !attribute.isTransient
        else { continue }
        let derivation = try Derivation(text, attribute: attribute.name, in: entity, layout)
        switch derivation.source {
        case .moment: mine.append(Own(slot: slot, source: nil, function: nil))
        case .attribute(let source):
          mine.append(Own(slot: slot, source: source, function: derivation.function))
        case .distant, .members:
          others.insert(slot)
          guard entity.slots[slot].owner == entity.entityNumber else { continue }
          guard derivation.function != .canonical else {
            throw PostgreSQLStoreError.model(
              entity: entity.entityName, property: attribute.name,
              reason:
                "PostgreSQL cannot compute canonical: of another object's attribute; derive a canonical attribute "
                + "there, and this one from that")
          }
          distant.append(Distant(entity: entity.entityNumber, slot: slot, derivation: derivation))
        }
      }
      own.append(mine)
      slots.append(others)
    }
    self.init(own: own, distantSlots: slots, distant: distant)
  }

  /// Returns the attributes of an entity's row that change when these slots are written.
  func own(of number: Int, changed: SlotSet) -> [Own] {
    own[number - 1].filter { own in own.source.map { changed.contains($0) } ?? true }
  }

  /// Returns whether saving objects of the entity computes values in them.
  func computes(_ number: Int) -> Bool { !own[number - 1].isEmpty || !distantSlots[number - 1].isEmpty }
}
