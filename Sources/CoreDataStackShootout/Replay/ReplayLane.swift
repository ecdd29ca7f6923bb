import CoreData
import CoreDataModelSchema
import CoreDataSampleValues
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Does in a context what a recording says. Used on the context's queue.
final class ReplayLane {
  private let _context: NSManagedObjectContext
  private let _objects: ReplayObjects
  private let _layout: ModelLayout
  private let _wanted: Set<String>
  /// The results of the last fetch of each request, which the program may hold.
  private var _held: [Trace.Request: [NSManagedObject]] = [:]
  private var _unsaved: [String: NSManagedObject] = [:]
  private var _made = 0
  /// Values that are made up differ from those of the store and of the other lane.
  private let _firstNumber: Int
  private(set) var figures = ReplayFigures()

  init(
    _ lane: ReplayPlan.Lane, _ context: NSManagedObjectContext, _ objects: ReplayObjects,
    _ layout: ModelLayout,
    wanted: Set<String>
  ) {
    (_context, _objects, _layout, _wanted) = (context, objects, layout, wanted)
    _firstNumber = (lane.rawValue + 1) * 500_000_000
  }

  /// Replays an event, except for writing of a save.
  ///
  /// - Returns: Whether the context is to be saved.
  func replay(_ event: Trace.Event) throws -> Bool {
    figures.events += 1
    switch event.kind {
    case .fetch(let request, let found, let ids, let predicate): try _fetch(request, found, ids, predicate)
    case .count(let request, let found, let predicate): try _count(request, found, predicate)
    case .fault(let name, _): if let object = _object(name) { _read(object) }
    case .members(let name, let relationship, _):
      guard let object = _object(name), object.entity.relationshipsByName[relationship] != nil else { break }
      switch object.value(forKey: relationship) {
      case let members as NSOrderedSet: _ = members.count
      case let members as NSSet: _ = members.count
      default: break
      }
    case .changes(let changes): try _change(changes)
    case .save(let changes, _, _, _):
      try _change(changes)
      return true
    case .merge, .execute: break
    case .reset:
      _context.reset()
      (_unsaved, _held) = ([:], [:])
    case .rollback:
      _context.rollback()
      _unsaved = [:]
    }
    return false
  }

  /// Lets go of what has been saved.
  func didSave() { _unsaved = [:] }

  private func _object(_ name: String) -> NSManagedObject? {
    if let object = _unsaved[name] { return object }
    guard let id = _objects.id(name) else {
      figures.leaveOut("objects that the store does not have")
      return nil
    }
    return _context.object(with: id)
  }

  /// Fires a fault, if its row is there.
  private func _read(_ object: NSManagedObject) {
    guard object.isFault else { return }
    _ = try? _context.existingObject(with: object.objectID)
  }

  // MARK: Fetches

  private func _fetch(_ recorded: Trace.Request, _ found: Int, _ ids: [String], _ predicate: String?) throws {
    guard recorded.result != "dictionaries" else {
      return figures.leaveOut("fetches of dictionaries, whose columns are not recorded")
    }
    guard _layout.layoutsByName[recorded.entity] != nil else {
      return figures.leaveOut("fetches of entities that the model does not have")
    }
    guard recorded.predicate == nil || predicate != nil else { return try _fetchByID(recorded, ids) }
    let count: Int
    if recorded.result == "ids" {
      let request: NSFetchRequest<NSManagedObjectID>? = try? recorded.fetchRequest(predicate: predicate)
      guard let request else { return try _fetchByID(recorded, ids) }
      request.resultType = .managedObjectIDResultType
      count = try _context.fetch(request).count
    } else {
      let request: NSFetchRequest<NSManagedObject>? = try? recorded.fetchRequest(predicate: predicate)
      guard let request else { return try _fetchByID(recorded, ids) }
      let objects = try _context.fetch(request)
      _held[recorded] = objects
      count = objects.count
    }
    figures.fetches += 1
    if count == found { figures.equal += 1 }
  }

  private func _fetchByID(_ recorded: Trace.Request, _ ids: [String]) throws {
    figures.byID += 1
    let request = NSFetchRequest<NSManagedObject>(entityName: recorded.entity)
    request.predicate = NSPredicate(format: "SELF IN %@", ids.compactMap(_objects.id))
    request.fetchBatchSize = recorded.batch
    if !recorded.prefetch.isEmpty { request.relationshipKeyPathsForPrefetching = recorded.prefetch }
    _held[recorded] = try _context.fetch(request)
  }

  private func _count(_ recorded: Trace.Request, _ found: Int, _ predicate: String?) throws {
    guard _layout.layoutsByName[recorded.entity] != nil else {
      return figures.leaveOut("fetches of entities that the model does not have")
    }
    let made: NSFetchRequest<NSManagedObject>? = try? recorded.fetchRequest(predicate: predicate)
    guard recorded.predicate == nil || predicate != nil, let request = made else {
      return figures.leaveOut("counts with values that are not recorded")
    }
    figures.fetches += 1
    if try _context.count(for: request) == found { figures.equal += 1 }
  }

  // MARK: Changes

  private func _change(_ changes: [Trace.Change]) throws {
    for change in changes where change.kind == .insert && _unsaved[change.id] == nil {
      guard let name = _entity(change.id), _layout.layoutsByName[name]?.isAbstract == false else { continue }
      let object = NSEntityDescription.insertNewObject(forEntityName: name, into: _context)
      _unsaved[change.id] = object
      if change.values == nil { _fill(object) }
    }
    for change in changes where change.kind != .delete {
      guard let object = _object(change.id) else { continue }
      guard let values = change.values else {
        if change.kind == .update { _touch(object, change.keys) }
        continue
      }
      for member in values { _set(member, of: object) }
    }
    for change in changes where change.kind == .delete {
      if let object = _object(change.id), !object.isDeleted { _context.delete(object) }
    }
    let later = _unsaved.filter { _wanted.contains($0.key) }
    if !later.isEmpty { try _context.obtainPermanentIDs(for: Array(later.values)) }
    for (name, object) in later { _objects.note(object.objectID, as: name) }
  }

  private func _entity(_ name: String) -> String? { name.lastIndex(of: "/").map { String(name[..<$0]) } }

  /// Gives a new object values that its attributes may have.
  private func _fill(_ object: NSManagedObject) {
    _made += 1
    for (name, attribute) in object.entity.attributesByName where _isSet(attribute) {
      object.setValue(PlausibleValue.value(for: attribute, number: _firstNumber + _made), forKey: name)
    }
  }

  /// Changes what was changed, to other values than there are.
  private func _touch(_ object: NSManagedObject, _ keys: [String]) {
    _made += 1
    for key in keys {
      guard let attribute = object.entity.attributesByName[key], _isSet(attribute) else { continue }
      object.setValue(PlausibleValue.value(for: attribute, number: _firstNumber + _made), forKey: key)
    }
  }

  private func _isSet(_ attribute: NSAttributeDescription) -> Bool {
    !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
      && ![.transformableAttributeType, .compositeAttributeType].contains(attribute.attributeType)
  }

  private func _set(_ member: Trace.JSONMember, of object: NSManagedObject) {
    if let relationship = object.entity.relationshipsByName[member.name] {
      return _link(relationship, member.value, of: object)
    }
    guard let description = object.entity.attributesByName[member.name], _isSet(description),
      let layout = object.entity.name.flatMap({ _layout.layoutsByName[$0] }),
      let slot = layout.slot(named: member.name), let attribute = layout.slots[slot].attribute
    else { return }
    if description.attributeType == .dateAttributeType, case .number(let digits) = member.value {
      return object.setValue(
        Double(digits).map(Date.init(timeIntervalSinceReferenceDate:)), forKey: member.name)
    }
    guard let value = try? ValueReading.value(member.value, of: attribute) else {
      return figures.leaveOut("values of another type than the model's")
    }
    object.setValue(value.object(of: attribute), forKey: member.name)
  }

  private func _link(
    _ relationship: NSRelationshipDescription, _ value: JSONValue, of object: NSManagedObject
  ) {
    // A recording of another model must not link what the relationship cannot lead to.
    func target(_ name: String) -> NSManagedObject? {
      guard let found = _object(name), let destination = relationship.destinationEntity else { return nil }
      if found.entity.isKindOf(entity: destination) { return found }
      figures.leaveOut("links that the model does not have")
      return nil
    }
    func objects(_ name: String, _ members: [JSONValue.Member]) -> [NSManagedObject] {
      guard case .array(let names)? = members.first(where: { $0.name == name })?.value else { return [] }
      return names.compactMap { if case .string(let name) = $0 { target(name) } else { nil } }
    }
    let name = relationship.name
    switch value {
    case .null: if !relationship.isToMany { object.setValue(nil, forKey: name) }
    case .string(let other): if !relationship.isToMany { object.setValue(target(other), forKey: name) }
    case .object(let members) where relationship.isOrdered:
      if members.contains(where: { $0.name == "order" }) {
        object.setValue(NSOrderedSet(array: objects("order", members)), forKey: name)
      }
    case .object(let members) where relationship.isToMany:
      let present = object.value(forKey: name) as? Set<NSManagedObject> ?? []
      object.setValue(
        present.union(objects("add", members)).subtracting(objects("remove", members)), forKey: name)
    default: break
    }
  }
}
