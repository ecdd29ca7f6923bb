import CoreData
import Foundation

/// A context's view of the library: a line for each object, by its label. Contexts that should agree have
/// equal views.
struct GraphView: Equatable {
  private(set) var lines: [String: String] = [:]
  /// Links that only one end knows, and links to missing objects.
  private(set) var flaws: [String] = []

  /// Entities, each with the attribute that contains an object's label.
  static let labels = [("Author", "name"), ("Publication", "title"), ("Tag", "name"), ("Chapter", "heading")]

  /// Reads all objects. Call inside the context's block.
  init(_ context: NSManagedObjectContext) throws {
    for (entity, label) in Self.labels {
      for object in try context.all(entity, by: label) {
        let name = object.text(label) ?? "?"
        if lines[name] != nil { flaws.append("\(name) is there twice") }
        if object.managedObjectContext !== context {
          flaws.append("\(name) was fetched but is not of the context")
        }
        if object.isDeleted { flaws.append("\(name) was fetched but is deleted") }
        if context.registeredObject(for: object.objectID) !== object {
          flaws.append("\(name) is not registered")
        }
        lines[name] = Self._line(object)
        _check(object, name)
      }
    }
  }

  /// Returns the differences, one line each.
  func differences(from other: GraphView) -> [String] {
    Set(lines.keys).union(other.lines.keys).sorted().compactMap { name in
      let mine = lines[name] ?? "-", theirs = other.lines[name] ?? "-"
      return mine == theirs ? nil : "\(name): \(mine)\n    but: \(theirs)"
    }
  }

  static func == (left: GraphView, right: GraphView) -> Bool { left.lines == right.lines }

  /// Returns an object's label.
  static func name(_ object: NSManagedObject) -> String {
    let label = labels.first { $0.0 == object.entity.name }?.1 ?? "title"
    return object.text(label) ?? "?"
  }

  private static func _line(_ object: NSManagedObject) -> String {
    var parts: [String] = [object.entity.name ?? "?"]
    for key in object.entity.attributesByName.keys.sorted()
    where ["age", "pages", "price", "genre"].contains(key) {
      parts.append("\(key)=\(object.value(forKey: key).map { "\($0)" } ?? "nil")")
    }
    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      if relationship.isOrdered {
        let members = (object.value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        parts.append("\(key)=(\(members.map(name).joined(separator: " ")))")
      } else if relationship.isToMany {
        parts.append("\(key)={\(object.objects(key).map(name).sorted().joined(separator: " "))}")
      } else {
        parts.append("\(key)=\(object.object(key).map(name) ?? "nil")")
      }
    }
    return parts.joined(separator: " ")
  }

  private mutating func _check(_ object: NSManagedObject, _ name: String) {
    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      guard let inverse = relationship.inverseRelationship else { continue }
      for other in object.related(key) {
        if other.isDeleted || other.managedObjectContext == nil {
          flaws.append("\(name).\(key) has a deleted object")
        }
        if !other.related(inverse.name).contains(where: { $0 === object }) {
          flaws.append("\(name).\(key) has \(Self.name(other)), whose \(inverse.name) does not have \(name)")
        }
      }
    }
  }
}

extension NSManagedObject {
  /// The objects of a relationship, of whichever kind, in its order if it has one.
  func related(_ key: String) -> [NSManagedObject] {
    switch value(forKey: key) {
    case let one as NSManagedObject: [one]
    case let set as Set<NSManagedObject>: Array(set)
    case let ordered as NSOrderedSet: ordered.array as? [NSManagedObject] ?? []
    default: []
    }
  }
}
