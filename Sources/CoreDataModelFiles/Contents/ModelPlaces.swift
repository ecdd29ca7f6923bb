import Foundation

/// Source locations of entities and properties in a model's `contents`, for messages.
package struct ModelPlaces: Sendable {
  /// A line of the file, counted from 1, and its text.
  package struct Place: Sendable, Hashable {
    package let line: Int
    /// Column of the name, counted from 1.
    package let column: Int
    /// Empty for a line that is too long to display.
    package let text: String
    /// Length of the name.
    package let length: Int
  }

  /// The file with these locations.
  package let path: String
  private var _places: [String: Place] = [:]

  /// Reads the locations in the model at `path`; in a directory with several versions, in the current one.
  ///
  /// - Throws: `ModelFileError`. A compiled model has no locations.
  package init(path: String) throws {
    self.path = try ModelFile.contentsPath(of: path)
    guard let text = try ModelFile.text(path: path) else { return }
    // By bytes: Swift treats a carriage return and line feed as one character.
    let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Substring($0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0) }
    let root = try XMLTreeReader.read(Data(text.utf8), path: self.path)
    for node in root.children {
      guard let name = node["name"] else { continue }
      guard node.name == "entity" else {
        _places["<\(node.name)>\(name)"] = Self._place(node, name, lines)
        continue
      }
      _places[name] = Self._place(node, name, lines)
      for property in node.children {
        guard let own = property["name"] else { continue }
        _places["\(name).\(own)"] = Self._place(property, own, lines)
      }
    }
  }

  /// Returns the location of an entity, or of one of its properties.
  package func place(entity: String, property: String? = nil) -> Place? {
    property.flatMap { _places["\(entity).\($0)"] } ?? _places[entity]
  }

  /// Returns the location of a template (`fetchRequest`) or a configuration.
  package func place(of element: String, named name: String) -> Place? { _places["<\(element)>\(name)"] }

  /// Maximum length of a displayed line: a file without line ends is a single line, which would be scanned
  /// for every name.
  private static let _lineLimit = 2_000

  private static func _place(_ node: XMLNode, _ name: String, _ lines: [Substring]) -> Place? {
    guard node.line >= 1, node.line <= lines.count else { return nil }
    guard lines[node.line - 1].utf8.count <= _lineLimit else {
      return Place(line: node.line, column: max(1, node.column), text: "", length: 1)
    }
    let text = String(lines[node.line - 1])
    guard let found = text.range(of: "name=\"\(name)\"") else {
      return Place(line: node.line, column: max(1, node.column), text: text, length: 1)
    }
    let start = text.distance(from: text.startIndex, to: found.lowerBound) + 7
    return Place(line: node.line, column: start, text: text, length: name.count)
  }
}
