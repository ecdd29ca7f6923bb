import CoreData

/// Owners with a relationship for each delete rule, and what they lead to.
enum RuleModel {
  /// The to-ones of an item and the to-manys of an owner opposite them, by delete rule.
  static let links: [(toOne: String, toMany: String, rule: NSDeleteRule)] = [
    ("keeper", "kept", .nullifyDeleteRule), ("master", "doomed", .cascadeDeleteRule),
    ("denier", "denied", .denyDeleteRule), ("leaver", "left", .noActionDeleteRule),
  ]

  static func make() -> NSManagedObjectModel {
    let owner = LibraryModel.entity("Owner"), item = LibraryModel.entity("Item")
    let special = LibraryModel.entity("SpecialOwner"), specialItem = LibraryModel.entity("SpecialItem")
    let part = LibraryModel.entity("Part"), badge = LibraryModel.entity("Badge"),
      tag = LibraryModel.entity("Tag")

    func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription)
      -> [NSRelationshipDescription]
    {
      LibraryModel.pair(one, other)
      return [one, other]
    }
    var ends = links.map { link in
      pair(
        LibraryModel.relationship(link.toMany, to: item, many: true, rule: link.rule),
        LibraryModel.relationship(link.toOne, to: owner))
    }
    ends.append(
      pair(
        LibraryModel.relationship("shelved", to: item, many: true, ordered: true),
        LibraryModel.relationship("shelf", to: owner)))
    let parts = pair(
      LibraryModel.relationship("parts", to: part, many: true, rule: .cascadeDeleteRule),
      LibraryModel.relationship("item", to: item))
    let badges = pair(
      LibraryModel.relationship("badge", to: badge), LibraryModel.relationship("owner", to: owner))
    let tags = pair(
      LibraryModel.relationship("tags", to: tag, many: true),
      LibraryModel.relationship("items", to: item, many: true))

    owner.properties = [LibraryModel.attribute("name", .stringAttributeType), badges[0]] + ends.map { $0[0] }
    item.properties =
      [LibraryModel.attribute("name", .stringAttributeType), parts[0], tags[0]] + ends.map { $0[1] }
    part.properties = [LibraryModel.attribute("name", .stringAttributeType), parts[1]]
    badge.properties = [LibraryModel.attribute("name", .stringAttributeType), badges[1]]
    tag.properties = [LibraryModel.attribute("name", .stringAttributeType), tags[1]]
    owner.subentities = [special]
    item.subentities = [specialItem]
    let model = NSManagedObjectModel()
    model.entities = [owner, special, item, specialItem, part, badge, tag]
    return model
  }
}
