import CoreData
import Foundation
import TestSupport

/// One random edit of the library in one context of a live soak, inside the context's block.
struct LiveEditor {
  private let _context: NSManagedObjectContext

  /// Objects of an entity above which most edits delete.
  private static let _most = 14

  init(_ context: NSManagedObjectContext) { _context = context }

  /// Makes an edit and returns its description.
  func edit(_ random: inout SeededRandom, _ serial: inout Int) throws -> String {
    switch random.below(100) {
    case 0..<26: try _insert(&random, &serial)
    case 26..<42: try _delete(&random)
    case 42..<70: try _assign(&random)
    case 70..<86: try _link(&random)
    case 86..<91: try _refresh(&random)
    default: try _undo(&random)
    }
  }

  private func _all(_ entity: String) throws -> [NSManagedObject] {
    try _context.all(entity, by: GraphView.labels.first { $0.0 == entity }!.1)
  }

  private func _insert(_ random: inout SeededRandom, _ serial: inout Int) throws -> String {
    let entity = random.pick(["Author", "Author", "Book", "Novel", "Tag"])!
    let kind = ["Book": "Publication", "Novel": "Publication"][entity] ?? entity
    let others = try _all(kind)
    if others.count > Self._most { return _delete(random.pick(others)!, &random) }
    serial += 1
    let name = "\(entity.prefix(1))\(serial)"
    switch entity {
    case "Author": _context.insert(entity, ["name": name, "age": random.below(5)])
    case "Tag": _context.insert(entity, ["name": name])
    default:
      let book = _context.insert(entity, ["title": name, "pages": random.below(40)])
      if random.chance(60) { book.setValue(random.pick(try _all("Author")), forKey: "author") }
    }
    return "insert \(name)"
  }

  private func _delete(_ random: inout SeededRandom) throws -> String {
    guard let object = random.pick(try _all(random.pick(["Author", "Publication", "Tag"])!)) else {
      return "delete nothing"
    }
    return _delete(object, &random)
  }

  private func _delete(_ object: NSManagedObject, _ random: inout SeededRandom) -> String {
    let name = GraphView.name(object)
    _context.delete(object)
    return "delete \(name)"
  }

  private func _assign(_ random: inout SeededRandom) throws -> String {
    let (entity, key) = random.pick([
      ("Author", "age"), ("Author", "name"), ("Publication", "pages"), ("Publication", "title"),
      ("Tag", "name"),
    ])!
    guard let object = random.pick(try _all(entity)) else { return "assign nothing" }
    let name = GraphView.name(object)
    switch key {
    case "age": object.setValue(random.below(5), forKey: key)
    case "pages": object.setValue(random.below(40), forKey: key)
    default: object.setValue("\(name.prefix(6))\(random.below(10))", forKey: key)
    }
    return "\(name).\(key) = \(object.value(forKey: key) ?? "nil")"
  }

  private func _link(_ random: inout SeededRandom) throws -> String {
    let (entity, key, target) = random.pick([
      ("Publication", "author", "Author"), ("Author", "mentor", "Author"), ("Publication", "tags", "Tag"),
    ])!
    guard let object = random.pick(try _all(entity)) else { return "link nothing" }
    let name = GraphView.name(object)
    let other = random.chance(20) ? nil : random.pick(try _all(target))
    guard key == "tags" else {
      object.setValue(other, forKey: key)
      return "\(name).\(key) = \(other.map(GraphView.name) ?? "nil")"
    }
    guard let other else { return "link nothing" }
    let members = object.mutableSetValue(forKey: key)
    if members.contains(other) { members.remove(other) } else { members.add(other) }
    return "\(name).\(key) with or without \(GraphView.name(other))"
  }

  private func _refresh(_ random: inout SeededRandom) throws -> String {
    if random.chance(40) {
      _context.refreshAllObjects()
      return "refresh all"
    }
    guard let object = random.pick(try _all("Author")) else { return "refresh nothing" }
    let name = GraphView.name(object)
    _context.refresh(object, mergeChanges: true)
    return "refresh \(name)"
  }

  private func _undo(_ random: inout SeededRandom) throws -> String {
    guard let manager = _context.undoManager else { return try _assign(&random) }
    if manager.canRedo, random.chance(40) {
      _context.redo()
      return "redo"
    }
    _context.undo()
    return "undo"
  }
}
