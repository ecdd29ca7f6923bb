import CoreData

// Models in a few lines, for programs and tests that make theirs in code:
//
//     let album = NSEntityDescription("Album", [("title", .stringAttributeType)])
//     let track = NSEntityDescription("Track", [("title", .stringAttributeType), ("plays", .integer32AttributeType)])
//     album.relate(.many("tracks", .cascadeDeleteRule), to: track, .one("album"))
//     let model = NSManagedObjectModel([album, track])

/// One end of a relationship: its name in its entity, and what it holds.
package struct RelationshipEnd {
  fileprivate let name: String
  fileprivate let isToMany: Bool
  fileprivate let isOrdered: Bool
  fileprivate let deleteRule: NSDeleteRule

  /// Holds at most one object.
  package static func one(_ name: String, _ deleteRule: NSDeleteRule = .nullifyDeleteRule) -> Self {
    Self(name: name, isToMany: false, isOrdered: false, deleteRule: deleteRule)
  }

  /// Holds a set of objects, or an ordered one.
  package static func many(
    _ name: String, _ deleteRule: NSDeleteRule = .nullifyDeleteRule, isOrdered: Bool = false
  ) -> Self {
    Self(name: name, isToMany: true, isOrdered: isOrdered, deleteRule: deleteRule)
  }

  fileprivate func relationship(to destination: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOrdered = isOrdered
    relationship.isOptional = true
    relationship.deleteRule = deleteRule
    return relationship
  }
}

extension NSAttributeDescription {
  /// An optional attribute.
  package convenience init(_ name: String, _ type: NSAttributeType) {
    self.init()
    self.name = name
    attributeType = type
    isOptional = true
  }

  /// Bytes that may lie in a file beside the store.
  package static func externalBytes(_ name: String) -> NSAttributeDescription {
    let attribute = NSAttributeDescription(name, .binaryDataAttributeType)
    attribute.allowsExternalBinaryDataStorage = true
    return attribute
  }
}

extension NSEntityDescription {
  /// An entity with optional attributes.
  package convenience init(_ name: String, _ attributes: [(String, NSAttributeType)] = []) {
    self.init()
    self.name = name
    properties = attributes.map { NSAttributeDescription($0, $1) }
  }

  /// Adds a relationship to another entity, and its inverse to that one.
  package func relate(_ end: RelationshipEnd, to other: NSEntityDescription, _ inverse: RelationshipEnd) {
    let (forth, back) = (end.relationship(to: other), inverse.relationship(to: self))
    (forth.inverseRelationship, back.inverseRelationship) = (back, forth)
    properties.append(forth)
    other.properties.append(back)
  }
}

extension NSManagedObjectModel {
  package convenience init(_ entities: [NSEntityDescription]) {
    self.init()
    self.entities = entities
  }
}
