import CoreData
import Foundation
import Testing

/// A kind of relationship from an entity `Owner`, by both of its ends.
struct RelationshipForm: Sendable, CustomTestStringConvertible {
  enum End: String, Sendable { case one, many, ordered }

  let end: End
  /// Nil without an inverse.
  let inverse: End?
  /// Whether the destination is `Owner` itself.
  let isReflexive: Bool

  static let all: [RelationshipForm] = [
    RelationshipForm(end: .one, inverse: .many, isReflexive: false),
    RelationshipForm(end: .one, inverse: .ordered, isReflexive: false),
    RelationshipForm(end: .one, inverse: .one, isReflexive: false),
    RelationshipForm(end: .one, inverse: nil, isReflexive: false),
    RelationshipForm(end: .one, inverse: .many, isReflexive: true),
    RelationshipForm(end: .many, inverse: .one, isReflexive: false),
    RelationshipForm(end: .many, inverse: .many, isReflexive: false),
    RelationshipForm(end: .many, inverse: .ordered, isReflexive: false),
    RelationshipForm(end: .many, inverse: nil, isReflexive: false),
    RelationshipForm(end: .many, inverse: .one, isReflexive: true),
    RelationshipForm(end: .many, inverse: .many, isReflexive: true),
    RelationshipForm(end: .ordered, inverse: .one, isReflexive: false),
    RelationshipForm(end: .ordered, inverse: .many, isReflexive: false),
    RelationshipForm(end: .ordered, inverse: nil, isReflexive: false),
  ]

  var testDescription: String {
    "\(end) to \(inverse.map(\.rawValue) ?? "nothing")\(isReflexive ? " of itself" : "")"
  }

  private var _name: String {
    "\(end.rawValue)\((inverse?.rawValue ?? "alone").capitalized)\(isReflexive ? "Self" : "")"
  }

  /// The relationship's name in `Owner`.
  var property: String { _name }
  /// The name of its inverse.
  var opposite: String { "inverse\(_name)" }
  var destination: String { isReflexive ? "Owner" : "Item" }

  /// Members by name: each differs from the one before.
  var values: [[String]] {
    switch end {
    case .one: [["a"], ["b"], []]
    case .many: [["a", "c"], ["b"], []]
    case .ordered: [["c", "a"], ["b", "c"], []]
    }
  }

  /// Members as text.
  func text(_ names: [String]) -> String {
    (end == .ordered ? names : names.sorted()).joined(separator: " ")
  }

  /// A model with all forms.
  static func model() -> NSManagedObjectModel {
    let owner = NSEntityDescription(), item = NSEntityDescription()
    owner.name = "Owner"
    item.name = "Item"
    for entity in [owner, item] {
      entity.properties = [LibraryModel.attribute("name", .stringAttributeType)]
    }
    func relationship(_ name: String, to entity: NSEntityDescription, _ end: End) -> NSRelationshipDescription
    {
      LibraryModel.relationship(name, to: entity, many: end != .one, ordered: end == .ordered)
    }
    for form in all {
      let destination = form.isReflexive ? owner : item
      let property = relationship(form.property, to: destination, form.end)
      owner.properties.append(property)
      guard let inverse = form.inverse else { continue }
      let opposite = relationship(form.opposite, to: owner, inverse)
      destination.properties.append(opposite)
      LibraryModel.pair(property, opposite)
    }
    let model = NSManagedObjectModel()
    model.entities = [owner, item]
    return model
  }
}

/// How a relationship is read and written.
struct RelationshipAccess: Sendable {
  let name: String
  /// The members; in their order if the relationship has one.
  let members: @Sendable (NSManagedObject, _ property: String) -> [NSManagedObject]
  let set: @Sendable (NSManagedObject, _ property: String, [NSManagedObject]) -> Void

  static func all(for form: RelationshipForm) -> [RelationshipAccess] {
    switch form.end {
    case .one: _toOne
    case .many: _toMany
    case .ordered: _ordered
    }
  }

  private static let _toOne = [
    RelationshipAccess(
      name: "value(forKey:)", members: { [$0.object($1)].compactMap(\.self) },
      set: { $0.setValue($2.first, forKey: $1) }),
    RelationshipAccess(
      name: "NSManagedObject?", members: { [ManagedKey<NSManagedObject?>($1)[$0]].compactMap(\.self) },
      set: { ManagedKey<NSManagedObject?>($1)[$0] = $2.first }),
  ]

  private static let _toMany = [
    RelationshipAccess(
      name: "value(forKey:)", members: { Array($0.objects($1)) }, set: { $0.setValue(Set($2), forKey: $1) }),
    RelationshipAccess(
      name: "mutableSetValue(forKey:)",
      members: { $0.mutableSetValue(forKey: $1).compactMap { $0 as? NSManagedObject } },
      set: { owner, key, members in
        let proxy = owner.mutableSetValue(forKey: key)
        for member in Array(proxy) where !members.contains(where: { $0 === member as AnyObject }) {
          proxy.remove(member)
        }
        for member in members { proxy.add(member) }
      }),
    RelationshipAccess(
      name: "Set", members: { Array(ManagedKey<Set<NSManagedObject>>($1)[$0]) },
      set: { ManagedKey<Set<NSManagedObject>>($1)[$0] = Set($2) }),
    RelationshipAccess(
      name: "NSSet?",
      members: { ManagedKey<NSSet?>($1)[$0]?.compactMap { $0 as? NSManagedObject } ?? [] },
      set: { ManagedKey<NSSet?>($1)[$0] = $2.isEmpty ? nil : NSSet(array: $2) }),
  ]

  private static let _ordered = [
    RelationshipAccess(
      name: "value(forKey:)",
      members: { ($0.value(forKey: $1) as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? [] },
      set: { $0.setValue(NSOrderedSet(array: $2), forKey: $1) }),
    RelationshipAccess(
      name: "mutableOrderedSetValue(forKey:)",
      members: { $0.mutableOrderedSetValue(forKey: $1).array.compactMap { $0 as? NSManagedObject } },
      set: { owner, key, members in
        let proxy = owner.mutableOrderedSetValue(forKey: key)
        for index in (0..<proxy.count).reversed()
        where !members.contains(where: { $0 === proxy[index] as AnyObject }) {
          proxy.removeObject(at: index)
        }
        for (index, member) in members.enumerated() {
          let present = proxy.index(of: member)
          if present == NSNotFound {
            proxy.insert(member, at: index)
          } else if present != index {
            proxy.moveObjects(at: IndexSet(integer: present), to: index)
          }
        }
      }),
    RelationshipAccess(
      name: "NSOrderedSet?",
      members: { ManagedKey<NSOrderedSet?>($1)[$0]?.array.compactMap { $0 as? NSManagedObject } ?? [] },
      set: { ManagedKey<NSOrderedSet?>($1)[$0] = NSOrderedSet(array: $2) }),
  ]
}
