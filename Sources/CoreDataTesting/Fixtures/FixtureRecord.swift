import Foundation

/// An object in a fixture file.
struct FixtureRecord {
  let entity: String
  /// The name by which others refer to it.
  let identifier: String?
  let fields: [(name: String, value: Any)]
  /// Its location, for messages.
  let place: String

  /// Reads the objects of a file in the form of `coredata store export`: one object a line, or, if the name ends with
  /// `.json`, one document with an array for each entity, or an array of objects.
  ///
  /// - Throws: `TestStoreError` with the place.
  static func read(_ url: URL) throws -> [FixtureRecord] {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw TestStoreError("The fixture \(url.path) cannot be read: \(error.localizedDescription)")
    }
    let name = url.lastPathComponent
    guard url.pathExtension.lowercased() == "json" else { return try _lines(data, name) }
    let document = try _json(data, name)
    if let elements = document as? [Any] {
      return try elements.enumerated().map { try _record($1, nil, "\(name), object \($0 + 1)") }
    }
    guard let entities = document as? [String: Any] else {
      throw TestStoreError(
        "\(name): an object with an array for each entity was expected, or an array of objects.")
    }
    return try entities.sorted { $0.key < $1.key }.flatMap { entity, elements in
      guard let elements = elements as? [Any] else {
        throw TestStoreError("\(name): '\(entity)': an array of objects was expected.")
      }
      return try elements.enumerated().map { try _record($1, entity, "\(name), \(entity) \($0 + 1)") }
    }
  }

  private static func _lines(_ data: Data, _ name: String) throws -> [FixtureRecord] {
    var records: [FixtureRecord] = []
    for (number, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    where !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
      let place = "\(name):\(number + 1)"
      records.append(try _record(_json(Data(line), place), nil, place))
    }
    return records
  }

  private static func _json(_ data: Data, _ place: String) throws -> Any {
    do {
      return try JSONSerialization.jsonObject(with: data)
    } catch {
      throw TestStoreError("\(place): no JSON: \(error)")
    }
  }

  private static func _record(_ value: Any, _ entity: String?, _ place: String) throws -> FixtureRecord {
    guard var members = value as? [String: Any] else {
      throw TestStoreError("\(place): an object was expected.")
    }
    let named = members.removeValue(forKey: "$entity")
    guard let entity = named as? String ?? entity else {
      throw TestStoreError("\(place): the object does not say its entity. Give it a member \"$entity\".")
    }
    let identifier = try members.removeValue(forKey: "$id").flatMap { try name(in: $0, place) }
    return FixtureRecord(
      entity: entity, identifier: identifier,
      fields: members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
      place: place)
  }

  /// The name of an object: a string or a number; nil for null.
  static func name(in value: Any, _ place: String) throws -> String? {
    if value is NSNull { return nil }
    if let text = value as? String { return text }
    if let number = value as? NSNumber { return number.stringValue }
    throw TestStoreError("\(place): the $id of an object is a string or a number.")
  }
}
