import CoreData
import ModelMaking

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
    let register = NSEntityDescription(
      "Register", [("key", .integer64AttributeType), ("list", .stringAttributeType)])
    let box = NSEntityDescription("Box", [("key", .integer64AttributeType)])
    let tag = NSEntityDescription("Tag", [("key", .integer64AttributeType)])
    let item = NSEntityDescription("Item", [("name", .stringAttributeType)])
    let claim = NSEntityDescription(
      "Claim", [("key", .integer64AttributeType), ("owner", .stringAttributeType)])
    for entity in [register, box, tag, claim] { entity.uniquenessConstraints = [["key"]] }
    item.relate(.one("box"), to: box, .many("items", .cascadeDeleteRule))
    item.relate(.many("tags"), to: tag, .many("items"))
    var entities = [register, box, tag, item, claim]
    if version > 1 {
      register.properties.append(NSAttributeDescription("note", .stringAttributeType))
      let remark = NSEntityDescription("Remark", [("text", .stringAttributeType)])
      remark.relate(.one("item"), to: item, .many("remarks", .cascadeDeleteRule))
      entities.append(remark)
    }
    return NSManagedObjectModel(entities)
  }
}
