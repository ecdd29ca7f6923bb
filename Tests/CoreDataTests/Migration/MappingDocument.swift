import CoreData
import Foundation

/// A mapping of one entity in a mapping document.
struct MappingEntry {
  let entity: String
  let attributes: [String]
  let relationships: [String]
  let policy: NSEntityMigrationPolicy.Type?

  init(
    _ entity: String, attributes: [String], relationships: [String] = [],
    policy: NSEntityMigrationPolicy.Type? = nil
  ) {
    self.entity = entity
    self.attributes = attributes
    self.relationships = relationships
    self.policy = policy
  }
}

/// Writes mapping models in the format of Xcode's editor.
enum MappingDocument {
  static func text(_ entries: [MappingEntry], from source: String, to destination: String) -> String {
    var objects: [String] = []
    var ids: [String] = []
    func add(_ type: String, _ attributes: [(String, String)], _ links: [(String, [String])]) -> String {
      let id = "z\(102 + objects.count)"
      let text = attributes.map { "<attribute name=\"\($0.0)\" type=\"string\">\($0.1)</attribute>" }
      let linked = links.map {
        "<relationship name=\"\($0.0)\" type=\"0/0\" idrefs=\"\($0.1.joined(separator: " "))\"></relationship>"
      }
      objects.append("<object type=\"\(type)\" id=\"\(id)\">\((text + linked).joined())</object>")
      return id
    }
    for (number, entry) in entries.enumerated() {
      let attributes = entry.attributes.map { add("XDDEVATTRIBUTEMAPPING", [("name", $0)], []) }
      let relationships = entry.relationships.map { add("XDDEVRELATIONSHIPMAPPING", [("name", $0)], []) }
      var fields = [
        ("sourcename", entry.entity), ("destinationname", entry.entity), ("mappingnumber", "\(number + 1)"),
        ("mappingtypename", "Undefined"),
      ]
      if let policy = entry.policy { fields.append(("migrationpolicyclassname", String(reflecting: policy))) }
      ids.append(
        add(
          "XDDEVENTITYMAPPING", fields,
          [("attributemappings", attributes), ("relationshipmappings", relationships)]))
    }
    _ = add(
      "XDDEVMAPPINGMODEL",
      [
        ("sourcemodelpath", "Model.xcdatamodeld/\(source).xcdatamodel"),
        ("destinationmodelpath", "Model.xcdatamodeld/\(destination).xcdatamodel"),
      ], [("entitymappings", ids)])
    return "<?xml version=\"1.0\" standalone=\"yes\"?>\n"
      + "<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n<database>\(objects.joined())</database>"
  }
}

extension MigrationFixture {
  /// Adds two versions and a mapping model between them to the program's resources.
  func bundle(
    mapping entries: [MappingEntry], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws {
    let names = (try bundle(source), try bundle(destination))
    try bundle(
      MappingDocument.text(entries, from: names.0, to: names.1),
      at: "\(names.0)To\(names.1).xcmappingmodel/xcmapping.xml")
  }
}
