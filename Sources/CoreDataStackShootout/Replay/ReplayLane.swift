import CoreData
import CoreDataModelSchema
import CoreDataSampleValues
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Does in a context what one context of a recording has done. Used on the context's queue.
final class ReplayLane {
  private let _context: NSManagedObjectContext
  private let _objects: ReplayObjects
  private let _layout: ModelLayout
  private let _wanted: Set<String>
  /// The results of the last fetch of each request, which the program may hold.
  private var _held: [Trace.Request: [NSManagedObject]] = [:]
  private var _unsaved: [String: NSManagedObject] = [:]
  /// Whether the context is that of other lanes, too, whose unsaved changes stay.
  private let _isShared: Bool
  /// What is unsaved of this lane, if the context is shared.
  private var _touched: Set<NSManagedObject> = []
  private(set) var figures = ReplayFigures()

  init(
    _ context: NSManagedObjectContext, isShared: Bool, _ objects: ReplayObjects, _ layout: ModelLayout,
    wanted: Set<String>
  ) {
    (_context, _isShared, _objects, _layout, _wanted) = (context, isShared, objects, layout, wanted)
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
    case .save(let changes, _, _, let error):
      try _change(changes)
      if error != nil { figures.leaveOut("saves that had failed") }
      return error == nil
    case .merge, .execute: break
    case .reset: _reset()
    case .rollback: _rollBack()
    }
    return false
  }

  /// Lets go of what has been saved.
  func didSave() {
    if _context.parent == nil { _noteWanted() }
    (_unsaved, _touched) = ([:], [])
  }

  private func _reset() {
    _held = [:]
    if _isShared {
      figures.leaveOut("resets of contexts that are one here")
      _rollBack()
    } else {
      _context.reset()
      _unsaved = [:]
    }
  }

  private func _rollBack() {
    defer { (_unsaved, _touched) = ([:], []) }
    guard _isShared else { return _context.rollback() }
    for object in _touched where object.managedObjectContext != nil { _revert(object) }
  }

  /// Lets nothing of an object be unsaved.
  private func _revert(_ object: NSManagedObject) {
    guard object.hasChanges || object.isDeleted else { return }
    if object.isInserted { return _context.delete(object) }
    // Inserted again, what is stored is as it was.
    if object.isDeleted { _context.insert(object) }
    _context.refresh(object, mergeChanges: false)
  }

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
      if _isShared { _touched.insert(object) }
      if change.values == nil { _fill(object) }
    }
    for change in changes where change.kind != .delete {
      guard let object = _object(change.id) else { continue }
      if _isShared { _touched.insert(object) }
      if change.kind == .revert {
        _revert(object)
        continue
      }
      if change.kind == .update { _revert(object, except: change.keys) }
      guard let values = change.values else {
        if change.kind == .update { _touch(object, change.keys) }
        continue
      }
      for member in values { _set(member, of: object) }
    }
    for change in changes where change.kind == .delete {
      guard let object = _object(change.id), !object.isDeleted else { continue }
      if _isShared { _touched.insert(object) }
      // Made again by a redo, it is another one.
      if object.isInserted { _unsaved[change.id] = nil }
      _context.delete(object)
    }
    // The save of a child leaves them temporary.
    guard _context.parent != nil else { return }
    let later = _unsaved.filter { _wanted.contains($0.key) && $0.value.objectID.isTemporaryID }
    if !later.isEmpty { try _context.obtainPermanentIDs(for: Array(later.values)) }
    _noteWanted()
  }

  /// Gives the attributes and to-ones that are unsaved only here the stored values again: the program has undone their changes. The
  /// other ends of to-manys follow.
  private func _revert(_ object: NSManagedObject, except keys: [String]) {
    guard object.hasPersistentChangedValues else { return }
    let stale = object.changedValues().keys.filter { key in
      guard !keys.contains(key) else { return false }
      return object.entity.attributesByName[key].map(_isSet)
        ?? !(object.entity.relationshipsByName[key]?.isToMany ?? true)
    }
    guard !stale.isEmpty else { return }
    for (key, value) in object.committedValues(forKeys: stale) {
      object.setValue(value is NSNull ? nil : value, forKey: key)
    }
  }

  private func _noteWanted() {
    for (name, object) in _unsaved where _wanted.contains(name) && !object.objectID.isTemporaryID {
      _objects.note(object.objectID, as: name)
    }
  }

  private func _entity(_ name: String) -> String? { name.lastIndex(of: "/").map { String(name[..<$0]) } }

  /// Gives a new object values that its attributes may have.
  private func _fill(_ object: NSManagedObject) {
    let number = _objects.nextNumber()
    for (name, attribute) in object.entity.attributesByName where _isSet(attribute) {
      object.setValue(PlausibleValue.value(for: attribute, number: number), forKey: name)
    }
  }

  /// Changes what was changed, to other values than there are.
  private func _touch(_ object: NSManagedObject, _ keys: [String]) {
    let number = _objects.nextNumber()
    for key in keys {
      guard let attribute = object.entity.attributesByName[key], _isSet(attribute) else { continue }
      object.setValue(PlausibleValue.value(for: attribute, number: number), forKey: key)
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
