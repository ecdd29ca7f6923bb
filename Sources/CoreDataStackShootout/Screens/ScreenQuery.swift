import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// The fetch requests of a screen.
struct ScreenQuery {
  let screen: Screen
  let layout: ModelLayout
  let entity: PropertyLayout
  private let _predicate: NSPredicate?

  /// - Throws: For a predicate that cannot be understood.
  init(_ screen: Screen, _ layout: ModelLayout) throws {
    guard let entity = layout.layoutsByName[screen.entity] else {
      throw StoreCheck.Failure(description: "the model has no entity '\(screen.entity)'")
    }
    (self.screen, self.layout, self.entity) = (screen, layout, entity)
    _predicate = try screen.predicate.map {
      try TypedPredicate.predicate($0, of: entity, in: layout) { _, _ in nil }
    }
  }

  /// The request for the rows, or for those in which a text is found.
  func request<Result: NSFetchRequestResult>(searching text: String? = nil) -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: screen.entity)
    request.predicate = _predicate
    if let search = screen.search, let text {
      let found = NSPredicate(format: "%K CONTAINS[cd] %@", search.attribute, text)
      request.predicate =
        _predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, found]) } ?? found
    }
    request.sortDescriptors = sorting
    return request
  }

  var sorting: [NSSortDescriptor] {
    screen.sort.map {
      let isDescending = $0.hasPrefix("-")
      return NSSortDescriptor(key: isDescending ? String($0.dropFirst()) : $0, ascending: !isDescending)
    }
  }

  /// The key paths shown that lead to values of the object and of one other at most, and the rest of them by the to-many
  /// that they begin with.
  var shown: (values: [String], members: [(toMany: Int, path: String)]) {
    var values: [String] = []
    var members: [(toMany: Int, path: String)] = []
    for path in screen.shows {
      let names = path.split(separator: ".").map(String.init)
      guard let slot = entity.slot(named: names[0]) else { continue }
      if entity.slots[slot].isToMany {
        members.append((slot, names.dropFirst().joined(separator: ".")))
      } else if !_leadsToMany(names) {
        values.append(path)
      }
    }
    return (values, members)
  }

  private func _leadsToMany(_ names: [String]) -> Bool {
    var current = entity
    for name in names {
      guard let slot = current.slot(named: name) else { return false }
      if current.slots[slot].isToMany { return true }
      guard let relationship = current.slots[slot].relationship else { return false }
      current = layout.layout(numbered: relationship.destination)
    }
    return false
  }
}
