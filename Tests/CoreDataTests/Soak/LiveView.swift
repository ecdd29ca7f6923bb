import CoreData
import Foundation

@testable import CoreData

/// All objects as a context shows them: a line for each, by its ID. Contexts that should agree have equal
/// views, also those of two coordinators on one file.
struct LiveView {
  private(set) var lines: [String: String] = [:]
  /// Links that only one end knows, and links to missing objects.
  private(set) var flaws: [String] = []

  /// Reads all objects. Call inside the context's block.
  init(_ context: NSManagedObjectContext) throws {
    for (entity, label) in GraphView.labels {
      for object in try context.all(entity, by: label) {
        let key = Self._key(object)
        if lines[key] != nil { flaws.append("\(key) is there twice") }
        if object.isDeleted { flaws.append("\(Self.name(object)) was fetched but is deleted") }
        if context.registeredObject(for: object.objectID) !== object {
          flaws.append("\(Self.name(object)) is not registered")
        }
        lines[key] = _line(object)
      }
    }
  }

  /// Returns the differences, one line each.
  func differences(from other: LiveView) -> [String] {
    Set(lines.keys).union(other.lines.keys).sorted().compactMap { key in
      let mine = lines[key] ?? "-", theirs = other.lines[key] ?? "-"
      return mine == theirs ? nil : "\(key): \(mine)\n    but: \(theirs)"
    }
  }

  // MARK: Texts

  /// Returns an object's label; its ID if it cannot be read.
  static func name(_ object: NSManagedObject) -> String {
    guard object.managedObjectContext != nil, !object.isDeleted else { return _key(object) }
    return GraphView.name(object)
  }

  /// Returns the labels of rows.
  static func names(_ rows: [[NSManagedObject]]) -> String {
    rows.map { "(\($0.map(name).joined(separator: " ")))" }.joined()
  }

  /// Returns an object's attributes.
  static func attributes(of object: NSManagedObject) -> String {
    ["name", "title", "age", "pages"].filter { object.entity.attributesByName[$0] != nil }.map { key in
      object.value(forKey: key).map { "\($0)" } ?? "nil"
    }.joined(separator: " ")
  }

  private static func _key(_ object: NSManagedObject) -> String {
    guard let key = object._key else { return "\(object.entity.name ?? "?") without row" }
    return "\(object.entity.name ?? "?") \(key.reference)"
  }

  private mutating func _line(_ object: NSManagedObject) -> String {
    var parts = [Self.attributes(of: object)]
    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      let others = object.related(key)
      for other in others {
        if other.isDeleted
          || (try? other.managedObjectContext?.existingObject(with: other.objectID)) !== other
        {
          flaws.append("\(Self.name(object)).\(key) has \(Self._key(other)), which is not there")
        } else if let inverse = relationship.inverseRelationship,
          !other.related(inverse.name).contains(where: { $0 === object })
        {
          flaws.append("\(Self.name(object)).\(key) has \(Self.name(other)), which does not have it")
        }
      }
      let keys = others.map(Self._key)
      let names = relationship.isOrdered ? keys : keys.sorted()
      if !names.isEmpty { parts.append("\(key)=\(names.joined(separator: ","))") }
    }
    return parts.joined(separator: " ")
  }
}
