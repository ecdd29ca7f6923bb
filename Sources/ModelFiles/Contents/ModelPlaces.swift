import Foundation

/// Where entities and properties stand in the `contents` of a model, for messages about them.
package struct ModelPlaces: Sendable {
  /// A line of the file, counted from 1, and what stands in it.
  package struct Place: Sendable, Hashable {
    package let line: Int
    /// Column of the name, counted from 1.
    package let column: Int
    package let text: String
    /// Length of the name.
    package let length: Int
  }

  /// The file that the places are in.
  package let path: String
  private var _places: [String: Place] = [:]

  /// Reads the places in the model at `path`; of a directory with several versions, in the current one.
  ///
  /// - Throws: `ModelFileError`. A compiled model has no places, and none is found in it.
  package init(path: String) throws {
    var path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    if path.hasSuffix(".xcdatamodeld") { path = try ModelVersions(path: path).current.path }
    if path.hasSuffix(".xcdatamodel"), FileManager.default.fileExists(atPath: path + "/contents") {
      path += "/contents"
    }
    self.path = path
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
      return
    }
    let data = try ModelFile.bytes(ofFile: path)
    guard !data.starts(with: Data("bplist".utf8)) else { return }
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let root = try XMLTreeReader.read(data, path: path)
    for entity in root.children(named: "entity") {
      guard let name = entity["name"] else { continue }
      _places[name] = Self._place(entity, name, lines)
      for property in entity.children {
        guard let own = property["name"] else { continue }
        _places["\(name).\(own)"] = Self._place(property, own, lines)
      }
    }
  }

  /// Place of an entity, or of a property of it.
  package func place(entity: String, property: String? = nil) -> Place? {
    property.flatMap { _places["\(entity).\($0)"] } ?? _places[entity]
  }

  private static func _place(_ node: XMLNode, _ name: String, _ lines: [Substring]) -> Place? {
    guard node.line >= 1, node.line <= lines.count else { return nil }
    let text = String(lines[node.line - 1])
    guard let found = text.range(of: "name=\"\(name)\"") else {
      return Place(line: node.line, column: max(1, node.column), text: text, length: 1)
    }
    let start = text.distance(from: text.startIndex, to: found.lowerBound) + 7
    return Place(line: node.line, column: start, text: text, length: name.count)
  }
}
