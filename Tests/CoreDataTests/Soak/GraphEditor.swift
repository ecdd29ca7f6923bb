import CoreData
import Foundation
import TestSupport

/// One random edit of the library in one context, inside the context's block.
final class GraphEditor {
  private let _context: NSManagedObjectContext
  private(set) var failures: [String] = []
  /// Attributes that the edit has assigned, as `label.key`.
  private(set) var assigned: [String] = []

  /// Whether no other editor is active, so that the context's objects match the store.
  private let _isAlone: Bool

  init(_ context: NSManagedObjectContext, isAlone: Bool) {
    _context = context
    _isAlone = isAlone
  }

  /// Makes an edit and returns its description.
  func edit(_ random: inout SeededRandom, serial: inout Int) throws -> String {
    switch random.below(100) {
    case 0..<22: try _insert(&random, &serial)
    case 22..<32: try _delete(&random)
    case 32..<45: try _assign(&random)
    case 45..<57: try _moveToOne(&random)
    case 57..<69: try _changeMembers(&random)
    case 69..<76: try _replaceMembers(&random)
    case 76..<82: try _reorder(&random)
    case 82..<86: try _refresh(&random)
    case 86..<89: try _obtainIDs(&random)
    case 89..<94: try _undoAndRedo(&random, &serial)
    case 94..<97: _process()
    default: try _query(&random)
    }
  }

  private func _all(_ entity: String) throws -> [NSManagedObject] {
    try _context.all(entity, by: GraphView.labels.first { $0.0 == entity }!.1)
  }

  private func _name(_ object: NSManagedObject?) -> String {
    guard let object else { return "nil" }
    return object.text(GraphView.labels.first { $0.0 == object.entity.name }?.1 ?? "title") ?? "?"
  }

  // MARK: Edits

  private func _insert(_ random: inout SeededRandom, _ serial: inout Int) throws -> String {
    let (entity, label) = random.pick([
      ("Author", "name"), ("Book", "title"), ("Book", "title"), ("Novel", "title"), ("Tag", "name"),
      ("Chapter", "heading"),
    ])!
    serial += 1
    let name = "\(entity.prefix(1))\(serial)"
    let object = _context.insert(entity, [label: name])
    switch entity {
    case "Author":
      if random.chance(40) { object.setValue(random.pick(try _all("Author")), forKey: "mentor") }
    case "Book", "Novel":
      if random.chance(70) { object.setValue(random.pick(try _all("Author")), forKey: "author") }
    case "Chapter":
      if random.chance(80) { object.setValue(random.pick(try _all("Publication")), forKey: "book") }
    default: break
    }
    return "insert \(name)"
  }

  private func _delete(_ random: inout SeededRandom) throws -> String {
    guard let object = random.pick(try _all(random.pick(GraphView.labels)!.0)) else {
      return "delete nothing"
    }
    let name = _name(object)
    _context.delete(object)
    if random.chance(30) { _context.processPendingChanges() }
    return "delete \(name)"
  }

  private func _assign(_ random: inout SeededRandom) throws -> String {
    let (entity, key) = random.pick([("Author", "age"), ("Publication", "pages"), ("Publication", "price")])!
    guard let object = random.pick(try _all(entity)) else { return "assign nothing" }
    let value = random.below(50)
    object.setValue(value, forKey: key)
    assigned.append("\(_name(object)).\(key)")
    return "\(_name(object)).\(key) = \(value)"
  }

  private func _moveToOne(_ random: inout SeededRandom) throws -> String {
    let (entity, key, target) = random.pick([
      ("Publication", "author", "Author"), ("Author", "mentor", "Author"), ("Chapter", "book", "Publication"),
    ])!
    guard let object = random.pick(try _all(entity)) else { return "move nothing" }
    let destination = random.chance(15) ? nil : random.pick(try _all(target))
    object.setValue(destination, forKey: key)
    return "\(_name(object)).\(key) = \(_name(destination))"
  }

  private static let _toMany = [
    ("Author", "books", "Publication"), ("Author", "pupils", "Author"), ("Publication", "tags", "Tag"),
    ("Tag", "books", "Publication"),
  ]

  private func _changeMembers(_ random: inout SeededRandom) throws -> String {
    let (entity, key, target) = random.pick(Self._toMany)!
    guard let owner = random.pick(try _all(entity)), let member = random.pick(try _all(target)) else {
      return "change no members"
    }
    let members = owner.mutableSetValue(forKey: key)
    if members.contains(member) {
      members.remove(member)
      return "\(_name(owner)).\(key) - \(_name(member))"
    }
    members.add(member)
    return "\(_name(owner)).\(key) + \(_name(member))"
  }

  private func _replaceMembers(_ random: inout SeededRandom) throws -> String {
    let (entity, key, target) = random.pick(Self._toMany)!
    guard let owner = random.pick(try _all(entity)) else { return "replace no members" }
    var members = Set<NSManagedObject>()
    for member in try _all(target) where random.chance(25) { members.insert(member) }
    owner.setValue(members, forKey: key)
    return "\(_name(owner)).\(key) = {\(members.map(_name).sorted().joined(separator: " "))}"
  }

  private func _reorder(_ random: inout SeededRandom) throws -> String {
    guard let book = random.pick(try _all("Publication")) else { return "reorder nothing" }
    if random.chance(30), let chapter = random.pick(try _all("Chapter")) {
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      if chapters.contains(chapter) { chapters.remove(chapter) } else { chapters.insert(chapter, at: 0) }
      return "\(_name(book)).chapters with \(_name(chapter)) in front or out"
    }
    let chapters = (book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
    book.setValue(NSOrderedSet(array: chapters.shuffled(using: &random)), forKey: "chapters")
    return "\(_name(book)).chapters shuffled"
  }

  // MARK: Context operations

  private func _refresh(_ random: inout SeededRandom) throws -> String {
    let view = _isAlone ? try GraphView(_context) : nil
    let label: String
    if random.chance(50) {
      _context.refreshAllObjects()
      label = "refresh all"
    } else if let object = random.pick(try _all("Publication")) {
      label = "refresh \(_name(object))"
      _context.refresh(object, mergeChanges: true)
    } else {
      return "refresh nothing"
    }
    // A single editor sees no foreign changes.
    if let view, try GraphView(_context) != view {
      failures.append("\(label) changed what the context shows")
    }
    return label
  }

  private func _obtainIDs(_ random: inout SeededRandom) throws -> String {
    let objects = Array(_context.insertedObjects)
    try _context.obtainPermanentIDs(for: objects)
    if objects.contains(where: \.objectID.isTemporaryID) {
      failures.append("an ID stayed temporary when asked for")
    }
    return "obtain \(objects.count) IDs"
  }

  private func _process() -> String {
    _context.processPendingChanges()
    return "process"
  }

  /// Undoing a few edits restores the previous state; redoing them restores the later one.
  private func _undoAndRedo(_ random: inout SeededRandom, _ serial: inout Int) throws -> String {
    guard _isAlone, let undoManager = _context.undoManager else { return "no undo manager" }
    _context.processPendingChanges()
    let before = try GraphView(_context)
    undoManager.removeAllActions()
    var label = "undo of"
    for _ in 0..<(1 + random.below(3)) {
      let edit =
        switch random.below(6) {
        case 0: try _insert(&random, &serial)
        case 1: try _delete(&random)
        case 2: try _assign(&random)
        case 3: try _moveToOne(&random)
        case 4: try _changeMembers(&random)
        default: try _reorder(&random)
        }
      label += " [\(edit)]"
    }
    _context.processPendingChanges()
    let after = try GraphView(_context)
    _context.undo()
    let undone = try GraphView(_context).differences(from: before)
    if !undone.isEmpty { failures.append("\(label) leaves \(undone.prefix(3).joined(separator: "\n  "))") }
    if random.chance(60) {
      _context.redo()
      let redone = try GraphView(_context).differences(from: after)
      if !redone.isEmpty {
        failures.append("\(label), redone, leaves \(redone.prefix(3).joined(separator: "\n  "))")
      }
      label += " and redo"
    }
    return label
  }

  /// A predicate finds the same objects as checking every object.
  private func _query(_ random: inout SeededRandom) throws -> String {
    let limit = random.below(50)
    let found = try _context.all("Book", where: NSPredicate(format: "pages >= %d", limit))
    let expected = try _context.all("Book").filter { ($0.value(forKey: "pages") as? Int ?? 0) >= limit }
    // With other editors, an object may show an older value than the one it is found by.
    if _isAlone, Set(found) != Set(expected) {
      failures.append(
        "pages >= \(limit) finds \(found.map(_name).sorted()), not \(expected.map(_name).sorted())")
    }
    return "query pages >= \(limit)"
  }
}
