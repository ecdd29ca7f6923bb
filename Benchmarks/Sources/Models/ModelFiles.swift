import Foundation

/// The versions of a large model as an app keeps them: each with one attribute more than the one before, as the
/// editor's XML and compiled.
struct ModelFiles {
  enum Form: String, CaseIterable {
    case editor = "xcdatamodel"
    case compiled = "mom"
  }

  static let versions = 117
  private static let _entities = 79
  private static let _types = [
    "String", "Integer 64", "Date", "Boolean", "Double", "Decimal", "Binary", "UUID",
  ]

  let directory: URL

  /// Writes the versions in the editor's form.
  func write() throws {
    for version in 1...Self.versions {
      let editor = url(.editor, version)
      try FileManager.default.createDirectory(at: editor, withIntermediateDirectories: true)
      try Data(_text(version).utf8).write(to: editor.appendingPathComponent("contents"))
    }
    let current = ["_XCCurrentVersionName": url(.editor, Self.versions).lastPathComponent]
    try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
      .write(to: url(.editor, 1).deletingLastPathComponent().appendingPathComponent(".xccurrentversion"))
  }

  /// A file of `Orders.xcdatamodeld`, or of the `Orders.momd` that is compiled from it.
  func url(_ form: Form, _ version: Int) -> URL {
    directory.appendingPathComponent("Orders.\(form == .editor ? "xcdatamodeld" : "momd")")
      .appendingPathComponent("Orders \(version).\(form.rawValue)")
  }

  /// Twelve attributes and three relationships of each entity, and one attribute more in each version.
  private func _text(_ version: Int) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22758" \
      systemVersion="23F79" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">

      """
    for entity in 0..<Self._entities {
      let next = (entity + 1) % Self._entities
      let added = (version + Self._entities - 1 - entity) / Self._entities
      text += """
            <entity name="Record\(entity)" representedClassName="Record\(entity)" syncable="YES" \
        codeGenerationType="class">

        """
      for attribute in 0..<12 + added {
        let type = Self._types[attribute % Self._types.count]
        text += """
                  <attribute name="field\(attribute)" optional="YES" attributeType="\(type)" \
          \(type == "Integer 64" ? "defaultValueString=\"0\" usesScalarValueType=\"YES\"" : "")/>

          """
      }
      text += """
                <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Record\(next)" inverseName="previous" inverseEntity="Record\(next)"/>
                <relationship name="previous" optional="YES" toMany="YES" deletionRule="Cascade" \
        destinationEntity="Record\((entity + Self._entities - 1) % Self._entities)" inverseName="next" \
        inverseEntity="Record\((entity + Self._entities - 1) % Self._entities)"/>
                <relationship name="peers" optional="YES" toMany="YES" deletionRule="Nullify" \
        destinationEntity="Record\(entity)" inverseName="peers" inverseEntity="Record\(entity)"/>
            </entity>

        """
    }
    return text + "</model>\n"
  }
}
