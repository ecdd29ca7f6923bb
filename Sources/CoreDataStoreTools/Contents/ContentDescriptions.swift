import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Where the text is inside of the bytes of some attributes, such as the body of a note of Apple's Notes.
///
/// A description is JSON: `{"entity": "ICNoteData", "attribute": "data", "steps": ["gzip", "2", "3", "2"]}`, or an array of such. The
/// steps are what `coredata store search` prints of a place: the way through compressed data, keys, indexes and field numbers.
/// Those of the user are files in `coredata/contents` of the configuration directory.
package struct ContentDescriptions: Sendable {
  /// The place of a text.
  struct Description: Decodable, Hashable, Sendable {
    let entity: String
    let attribute: String
    let steps: [String]
  }

  private struct Key: Hashable {
    let entity: String
    let attribute: String
  }

  private let _steps: [Key: [String]]

  /// Found in stores of Notes by this package's own search.
  private static let _known = [
    Description(entity: "ICNoteData", attribute: "data", steps: ["gzip", "2", "3", "2"]),
    Description(
      entity: "ICNote", attribute: "activityEventsData", steps: ["gzip", "2", "3", "3", "13", "3", "2", "5"]),
  ]

  /// Reads the user's descriptions; one that cannot be read is told as a warning and left out.
  package init(_ environment: ToolEnvironment) {
    var steps: [Key: [String]] = [:]
    // The user's come last, and win.
    for description in Self._known + Self._ofUser(environment) {
      steps[Key(entity: description.entity, attribute: description.attribute)] = description.steps
    }
    _steps = steps
  }

  private static func _ofUser(_ environment: ToolEnvironment) -> [Description] {
    let configuration =
      environment.variables["XDG_CONFIG_HOME"] ?? environment.variables["HOME"].map { $0 + "/.config" }
    guard let configuration, !configuration.isEmpty else { return [] }
    let directory = configuration + "/coredata/contents"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted().flatMap { name -> [Description] in
      let path = directory + "/" + name
      do {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let decoder = JSONDecoder()
        if let one = try? decoder.decode(Description.self, from: data) { return [one] }
        return try decoder.decode([Description].self, from: data)
      } catch {
        environment.error(
          "warning: '\(path)' is not used: it is no description of contents, "
            + "{\"entity\": …, \"attribute\": …, \"steps\": [\"gzip\", …]}.\n")
        return []
      }
    }
  }

  /// The text inside of the bytes of an attribute; nil without a description, or if they have no text there.
  package func text(in bytes: [UInt8], of attribute: String, in entity: PropertyLayout, _ layout: ModelLayout)
    -> String?
  {
    // A description of an entity holds for its subentities.
    var line: PropertyLayout? = entity
    while let current = line {
      if let steps = _steps[Key(entity: current.entityName, attribute: attribute)] {
        return Self._text(bytes, steps)
      }
      line = current.parentNumber.map { layout.layout(numbered: $0) }
    }
    return nil
  }

  private static func _text(_ bytes: [UInt8], _ steps: [String]) -> String? {
    var contents = ContentTexts()
    var found: String?
    _ = contents.visit(bytes) { path, text in
      guard path == steps else { return true }
      found = text
      return false
    }
    return found
  }
}
