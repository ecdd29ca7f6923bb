import CoreData

/// What clients of a recorded run change: lists that all append to, items that move between boxes and have tags, and claims of
/// which there is one for each key.
///
/// The second version adds an attribute, and remarks on items.
enum HistoryModel {
  static let registers = 12
  /// The last registers are appended to about once in two seconds, so that versions seldom move on.
  static let quietRegisters = 4
  static let boxes = 4
  static let tags = 6
  static let claims = 12

  static func make(version: Int) -> NSManagedObjectModel {
    let register = _entity("Register", [("key", .integer64AttributeType), ("list", .stringAttributeType)])
    let box = _entity("Box", [("key", .integer64AttributeType)])
    let tag = _entity("Tag", [("key", .integer64AttributeType)])
    let item = _entity("Item", [("name", .stringAttributeType)])
    let claim = _entity("Claim", [("key", .integer64AttributeType), ("owner", .stringAttributeType)])
    for entity in [register, box, tag, claim] { entity.uniquenessConstraints = [["key"]] }
    _relate(
      item, "box", box, "items", toMany: (false, true), deleteRules: (.nullifyDeleteRule, .cascadeDeleteRule))
    _relate(
      item, "tags", tag, "items", toMany: (true, true), deleteRules: (.nullifyDeleteRule, .nullifyDeleteRule))
    var entities = [register, box, tag, item, claim]
    if version > 1 {
      register.properties.append(_attribute("note", .stringAttributeType))
      let remark = _entity("Remark", [("text", .stringAttributeType)])
      _relate(
        remark, "item", item, "remarks", toMany: (false, true),
        deleteRules: (.nullifyDeleteRule, .cascadeDeleteRule))
      entities.append(remark)
    }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func _entity(_ name: String, _ attributes: [(String, NSAttributeType)])
    -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map(_attribute)
    return entity
  }

  private static func _attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  private static func _relate(
    _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String,
    toMany: (Bool, Bool), deleteRules: (NSDeleteRule, NSDeleteRule)
  ) {
    let (forth, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
    for (relationship, name, destination, isToMany, rule) in [
      (forth, name, other, toMany.0, deleteRules.0), (inverse, back, one, toMany.1, deleteRules.1),
    ] {
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.maxCount = isToMany ? 0 : 1
      relationship.deleteRule = rule
    }
    (forth.inverseRelationship, inverse.inverseRelationship) = (inverse, forth)
    one.properties.append(forth)
    other.properties.append(inverse)
  }
}
