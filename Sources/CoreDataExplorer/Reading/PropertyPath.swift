import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit

/// A path from an entity through to-one relationships to a property: the contents of a column.
struct PropertyPath: Sendable, Hashable {
  enum Kind: Sendable {
    /// The object itself.
    case identity
    case attribute(AttributeSchema)
    case toOne(destination: Int)
    /// With the entity that declares the relationship, and its slot there.
    case toMany(destination: Int, owner: Int, slot: Int)
  }

  /// The textual form: `author.name`, `$id`.
  let text: String
  let names: [String]
  let kind: Kind

  /// Why a path is invalid.
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  static let identifier = "$id"

  static func == (left: PropertyPath, right: PropertyPath) -> Bool { left.text == right.text }
  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  /// Parses and validates a path.
  init(_ text: String, of entity: PropertyLayout, in layout: ModelLayout) throws(Problem) {
    self.text = text
    names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard text != Self.identifier else {
      kind = .identity
      return
    }
    guard names.count <= 6 else { throw Problem(description: "'\(text)' is a path of more than six steps.") }
    var current = entity
    for (index, name) in names.enumerated() {
      guard let property = layout.storedProperty(name, of: current) else {
        let known = layout.storedProperties(of: current)
        let near = SpellingSuggestion.nearest(to: name, among: known)
        throw Problem(
          description: "'\(current.entityName)' has no property '\(name)'."
            + (near.map { " Did you mean '\($0)'?" } ?? ""))
      }
      let isLast = index == names.count - 1
      if let attribute = property.slot.attribute {
        guard let found = Self._element(attribute, names[(index + 1)...]) else {
          throw Problem(description: "Nothing follows the attribute '\(name)' in '\(text)'.")
        }
        kind = .attribute(found)
        return
      }
      guard let relationship = property.slot.relationship else { break }
      if isLast {
        kind =
          relationship.isToMany
          ? .toMany(destination: relationship.destination, owner: property.entity, slot: property.index)
          : .toOne(destination: relationship.destination)
        return
      }
      guard !relationship.isToMany else {
        throw Problem(description: "Nothing can follow '\(name)' in '\(text)': it leads to many objects.")
      }
      current = layout.layout(numbered: relationship.destination)
    }
    throw Problem(description: "'\(text)' does not lead to a property.")
  }

  private static func _element(_ attribute: AttributeSchema, _ rest: ArraySlice<String>) -> AttributeSchema? {
    guard let name = rest.first else { return attribute }
    return attribute.elements.first { $0.name == name }.flatMap { _element($0, rest.dropFirst()) }
  }

  /// Whether a store can sort by it, and pages can begin after a value of it.
  func isSortable(of entity: PropertyLayout) -> Bool {
    // The engine resolves keys in the entity that is fetched, not in its subentities.
    guard let first = names.first, entity.slot(named: first) != nil, case .attribute(let attribute) = kind
    else {
      return false
    }
    switch attribute.type.form {
    case .binaryData, .transformable, .composite, .undefined, .objectID: return false
    default: return true
    }
  }

  /// All columns that an entity's table can have, in default order: the label attribute, the other attributes,
  /// to-ones, to-manys, attributes without a short form.
  static func all(of entity: PropertyLayout, in layout: ModelLayout, label: String?) -> [PropertyPath] {
    var paths: [PropertyPath] = []
    for name in layout.storedProperties(of: entity) {
      guard let path = try? PropertyPath(name, of: entity, in: layout) else { continue }
      if case .attribute(let attribute) = path.kind, attribute.type == .composite {
        paths += attribute.elements.compactMap {
          try? PropertyPath("\(name).\($0.name)", of: entity, in: layout)
        }
      } else {
        paths.append(path)
      }
    }
    func rank(_ path: PropertyPath) -> Int {
      switch path.kind {
      case .identity: 0
      case .attribute where path.text == label: 1
      case .attribute(let attribute):
        attribute.type == .binaryData || attribute.type == .transformable ? 5 : 2
      case .toOne: 3
      case .toMany: 4
      }
    }
    return paths.sorted { (rank($0), $0.text) < (rank($1), $1.text) }
  }
}
