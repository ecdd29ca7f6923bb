import CoreDataModelFiles
import Foundation

/// Encodes and decodes the objects of transformable attributes.
enum TransformableCoding {
  /// Returns the stored data of `object`; nil, stored as null, if the transformer returns nil.
  ///
  /// - Throws: `AttributeValueError` if the transformer is missing or does not return data, or if the object
  ///   cannot be archived.
  static func data(from object: Any, transformer name: String?, attribute: AttributeCoding) throws -> Data? {
    guard let name, !name.isEmpty else { return try archive(object, attribute: attribute) }
    guard name != NSValueTransformerName.keyedUnarchiveFromDataTransformerName.rawValue else {
      // Core Data rejects it as well: its output cannot be read safely.
      throw AttributeValueError(
        entity: attribute.entityName, attribute: attribute.name,
        expected: "a secure transformer, such as NSSecureUnarchiveFromData or none at all",
        found: "'\(name)', which is read but not written any more")
    }
    let transformer = try _transformer(name, attribute)
    // The archive transformers convert data to objects; attributes use them in reverse.
    let result =
      transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.reverseTransformedValue(object) : transformer.transformedValue(object)
    guard let result else { return nil }
    if let data = result as? Data ?? (result as? NSData).map({ Data(referencing: $0) }) {
      return transformer is NSSecureUnarchiveFromDataTransformer
        ? try _checked(data, of: object, attribute) : data
    }
    throw AttributeValueError(
      entity: attribute.entityName, attribute: attribute.name,
      expected: "Data from the value transformer '\(name)'", found: "\(type(of: result))")
  }

  /// Returns the object stored as `data`.
  ///
  /// - Throws: `AttributeValueError` if the transformer is missing or the archive cannot be read.
  static func object(from data: Data, transformer name: String?, attribute: AttributeCoding) throws -> Any? {
    guard let name, !name.isEmpty else { return try unarchive(data, attribute: attribute) }
    let transformer = try _transformer(name, attribute)
    return transformer is NSSecureUnarchiveFromDataTransformer
      ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
  }

  private static func _transformer(_ name: String, _ attribute: AttributeCoding) throws -> ValueTransformer {
    if let found = ValueTransformer.registered(NSValueTransformerName(name)) { return found }
    throw AttributeValueError(
      entity: attribute.entityName, attribute: attribute.name,
      expected: "the value transformer '\(name)'",
      found:
        "none of that name; call ValueTransformer.setValueTransformer(_:forName:) before the store is loaded")
  }

  /// A keyed archive of `object`.
  static func archive(_ object: Any, attribute: AttributeCoding) throws -> Data {
    let data: Data
    do {
      data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
    } catch {
      throw AttributeValueError(
        entity: attribute.entityName, attribute: attribute.name, expected: "an object that can be archived",
        found: "\(type(of: object)) (\(error))")
    }
    return try _checked(data, of: object, attribute)
  }

  /// Rejects an empty archive, which would read as no value: in programs linked with `--static-swift-stdlib`,
  /// `NSKeyedArchiver` of Swift 6.3 writes only those.
  private static func _checked(_ archive: Data, of object: Any, _ attribute: AttributeCoding) throws -> Data {
    guard archive.isEmpty else { return archive }
    throw AttributeValueError(
      entity: attribute.entityName, attribute: attribute.name, expected: "an archive of \(type(of: object))",
      found:
        "an empty one; NSKeyedArchiver cannot write in a program linked with --static-swift-stdlib: link "
        + "dynamically, or use a value transformer of your own")
  }

  /// Returns the root object of a keyed archive of plain values or of the program's classes.
  static func unarchive(_ data: Data, attribute: AttributeCoding) throws -> Any? {
    do {
      return try ArchivedObject.decode(data)
    } catch {
      throw AttributeValueError(
        entity: attribute.entityName, attribute: attribute.name, expected: "a keyed archive",
        found: "\(data.count) bytes that can't be read as one: \(error)")
    }
  }
}

/// Decodes keyed archives from stores without risking a trap.
enum ArchivedObject {
  /// Decodes the root object.
  ///
  /// An archive of plain values is decoded with all checks. One with other classes is passed to
  /// `NSKeyedUnarchiver` if the program has all of them; their `init(coder:)` must then handle arbitrary
  /// contents.
  static func decode(_ data: Data) throws -> Any? {
    switch try PlainArchive.decode(data) {
    case .object(let object): return object
    case .needsClasses(let names):
      if let missing = names.sorted().first(where: { !_hasClass($0) }) {
        throw PlainArchiveError(
          reason:
            "it holds an object of the class '\(missing)', which is not in this program; write the class, or map "
            + "the name with NSKeyedUnarchiver.setClass(_:forClassName:)")
      }
      let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
      unarchiver.requiresSecureCoding = false
      unarchiver.decodingFailurePolicy = .setErrorAndReturn
      let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
      if let error = unarchiver.error { throw error }
      return object
    }
  }

  private static func _hasClass(_ name: String) -> Bool {
    NSKeyedUnarchiver.class(forClassName: name) != nil || NSClassFromString(name) is any NSCoding.Type
  }
}
