import CoreData
import Foundation

/// The content of a store as text: the same for stores with the same content, whatever the IDs of their rows.
///
/// Objects are ordered by their attributes, then by the objects that they refer to, as far as these can be told apart,
/// and so on until nothing changes any more. Of objects that are alike even then, each in turn is given the next place.
struct SnapshotText {
  private let _rows: [Row]
  private let _colors: [Int]

  /// An object with texts in place of its values.
  fileprivate struct Row {
    let entity: String
    let attributes: [String]
    /// By name; members are places in the list of rows.
    let relationships: [(name: String, isOrdered: Bool, members: [Int])]
  }

  /// Reads the store through a context, on its queue.
  ///
  /// - Parameter excluded: Names of properties that are left out: `property` or `Entity.property`.
  init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, excluding excluded: Set<String>)
    throws
  {
    var objects: [NSManagedObject] = []
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.returnsObjectsAsFaults = false
      objects += try context.fetch(request)
    }
    let places = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.objectID, $0) })
    _rows = objects.map { object in Row(object, places, excluded) }
    _colors = Self._colors(of: _rows)
  }

  /// The text: a paragraph for each object.
  var text: String {
    let order = _rows.indices.sorted { _colors[$0] < _colors[$1] }
    var names = [String](repeating: "", count: _rows.count)
    var counts: [String: Int] = [:]
    for place in order {
      counts[_rows[place].entity, default: 0] += 1
      names[place] = "\(_rows[place].entity) \(counts[_rows[place].entity]!)"
    }
    return order.map { place in
      let row = _rows[place]
      let relationships = row.relationships.map { relationship in
        let members =
          relationship.isOrdered
          ? relationship.members : relationship.members.sorted { _colors[$0] < _colors[$1] }
        let texts = members.map { names[$0] }
        return "  \(relationship.name): \(texts.isEmpty ? "none" : texts.joined(separator: ", "))\n"
      }
      return "\(names[place])\n" + row.attributes.map { "  \($0)\n" }.joined() + relationships.joined()
    }.joined(separator: "\n")
  }

  // MARK: Order

  /// A number for each row, by which rows are ordered: all different, and the same for equal stores.
  private static func _colors(of rows: [Row]) -> [Int] {
    var colors = _ranks(rows.map { [$0.entity] + $0.attributes }) { $0.lexicographicallyPrecedes($1) }
    while true {
      colors = _refined(colors, rows)
      guard let tie = _firstTie(colors) else { return colors }
      // The first of those that are alike goes before the others, and so do the objects around it.
      colors = colors.map { $0 * 2 + 1 }
      colors[tie] -= 1
    }
  }

  /// Tells rows apart by the colors of those that they refer to, until nothing changes.
  private static func _refined(_ colors: [Int], _ rows: [Row]) -> [Int] {
    var (colors, count) = (colors, 0)
    while true {
      let keys = rows.enumerated().map { place, row in
        row.relationships.reduce(into: [colors[place]]) { key, relationship in
          let members = relationship.members.map { colors[$0] }
          key += [-1] + (relationship.isOrdered ? members : members.sorted())
        }
      }
      colors = _ranks(keys) { $0.lexicographicallyPrecedes($1) }
      let found = (colors.max() ?? -1) + 1
      if found == count { return colors }
      count = found
    }
  }

  private static func _ranks<Key: Hashable>(_ keys: [Key], _ precedes: (Key, Key) -> Bool) -> [Int] {
    let ranks = Dictionary(uniqueKeysWithValues: Set(keys).sorted(by: precedes).enumerated().map { ($1, $0) })
    return keys.map { ranks[$0]! }
  }

  private static func _firstTie(_ colors: [Int]) -> Int? {
    var counts = [Int](repeating: 0, count: (colors.max() ?? -1) + 1)
    for color in colors { counts[color] += 1 }
    guard let tied = counts.firstIndex(where: { $0 > 1 }) else { return nil }
    return colors.firstIndex(of: tied)
  }
}

extension SnapshotText.Row {
  fileprivate init(_ object: NSManagedObject, _ places: [NSManagedObjectID: Int], _ excluded: Set<String>) {
    let entity = object.entity
    let name = entity.name ?? "?"
    func isShown(_ property: NSPropertyDescription) -> Bool {
      !property.isTransient && !(property is NSFetchedPropertyDescription)
        && !excluded.contains(property.name)
        && !excluded.contains("\(name).\(property.name)")
    }
    let attributes = entity.attributesByName.values.filter(isShown).sorted { $0.name < $1.name }
    let relationships = entity.relationshipsByName.values.filter(isShown).sorted { $0.name < $1.name }
    self.init(
      entity: name,
      attributes: attributes.map { attribute in
        let value = object.value(forKey: attribute.name)
        let isFlag = attribute.attributeType == .booleanAttributeType
        let text =
          isFlag ? (value as? NSNumber).map { "\($0.boolValue)" } ?? "nil" : SnapshotValue.text(value)
        return "\(attribute.name): \(text)"
      },
      relationships: relationships.map { relationship in
        let members: [NSManagedObject] =
          if relationship.isOrdered {
            object.mutableOrderedSetValue(forKey: relationship.name).compactMap { $0 as? NSManagedObject }
          } else if relationship.isToMany {
            object.mutableSetValue(forKey: relationship.name).compactMap { $0 as? NSManagedObject }
          } else {
            (object.value(forKey: relationship.name) as? NSManagedObject).map { [$0] } ?? []
          }
        return (relationship.name, relationship.isOrdered, members.compactMap { places[$0.objectID] })
      })
  }
}
