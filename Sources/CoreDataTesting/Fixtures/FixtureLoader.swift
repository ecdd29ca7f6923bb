import CoreData
import Foundation

/// Makes the objects of a fixture in a context, on its queue.
final class FixtureLoader {
  private let _model: NSManagedObjectModel
  private let _context: NSManagedObjectContext
  private(set) var objects: [String: NSManagedObject] = [:]
  private var _made: [NSManagedObject] = []

  init(_ model: NSManagedObjectModel, _ context: NSManagedObjectContext) {
    (_model, _context) = (model, context)
  }

  var count: Int { _made.count }

  /// - Throws: `TestStoreError` with the place in the file.
  func load(_ records: [FixtureRecord]) throws {
    // All objects first: a relationship may lead to one of a later line.
    for record in records { try _make(record) }
    for (record, object) in zip(records, _made) { try _connect(object, record) }
  }

  /// Takes back what a failed load has made.
  func discard() { for object in _made { _context.delete(object) } }

  private func _make(_ record: FixtureRecord) throws {
    guard let entity = _model.entitiesByName[record.entity] else {
      throw TestStoreError(
        "\(record.place): the model has no entity '\(record.entity)'; it has "
          + "\(_model.entitiesByName.keys.sorted().joined(separator: ", ")).")
    }
    guard !entity.isAbstract else {
      throw TestStoreError("\(record.place): '\(record.entity)' is abstract: there can be no objects of it.")
    }
    let object = NSEntityDescription.insertNewObject(forEntityName: record.entity, into: _context)
    _made.append(object)
    if let identifier = record.identifier {
      guard objects.updateValue(object, forKey: identifier) == nil else {
        throw TestStoreError("\(record.place): a second object has the $id '\(identifier)'.")
      }
    }
    for (name, value) in record.fields {
      guard let property = entity.propertiesByName[name] else {
        throw TestStoreError(
          "\(record.place): '\(record.entity)' has no property '\(name)'; it has "
            + "\(entity.propertiesByName.keys.sorted().joined(separator: ", ")).")
      }
      if property is NSDerivedAttributeDescription { continue }
      guard let attribute = property as? NSAttributeDescription else { continue }
      object.setValue(try FixtureValue.value(value, of: attribute, record.place), forKey: name)
    }
  }

  private func _connect(_ object: NSManagedObject, _ record: FixtureRecord) throws {
    for (name, value) in record.fields {
      guard let relationship = object.entity.relationshipsByName[name] else { continue }
      let list = value as? [Any]
      let names = try (list ?? [value]).compactMap {
        try FixtureRecord.name(in: $0, "\(record.place): '\(name)'")
      }
      let members = try names.map { try _member($0, relationship, record) }
      if !relationship.isToMany {
        guard members.count <= 1 else {
          throw TestStoreError("\(record.place): '\(name)' leads to one object, not to \(members.count).")
        }
        object.setValue(members.first, forKey: name)
      } else if relationship.isOrdered {
        object.mutableOrderedSetValue(forKey: name).addObjects(from: members)
      } else {
        let set = object.mutableSetValue(forKey: name)
        for member in members { set.add(member) }
      }
    }
  }

  private func _member(_ name: String, _ relationship: NSRelationshipDescription, _ record: FixtureRecord)
    throws
    -> NSManagedObject
  {
    guard let member = objects[name] else {
      throw TestStoreError(
        "\(record.place): '\(relationship.name)' leads to '\(name)', which is the $id of no object of the file."
      )
    }
    guard let destination = relationship.destinationEntity, member.entity.isKindOf(entity: destination) else {
      throw TestStoreError(
        "\(record.place): '\(relationship.name)' leads to '\(name)', which is a \(member.entity.name ?? "?") and no "
          + "\(relationship.destinationEntity?.name ?? "?").")
    }
    return member
  }
}
