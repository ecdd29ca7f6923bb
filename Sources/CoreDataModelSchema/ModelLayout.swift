import Synchronization

/// All layouts of a frozen model.
///
/// Entities are numbered as Apple's SQLite store numbers them: roots sorted by name without regard to case,
/// each followed depth-first by its subentities in the same order, from 1.
package final class ModelLayout: Sendable {
  package let schema: ModelSchema
  /// Layouts in the order of their entity numbers.
  package let layouts: [PropertyLayout]
  package let layoutsByName: [String: PropertyLayout]
  private let _versionHashes = Mutex<[String: [UInt8]]?>(nil)

  /// Lays out `schema`.
  ///
  /// - Throws: `ModelLayoutError` for a duplicate entity or property name, a missing or cyclic parent, a
  ///   missing destination or an inverse that does not point back.
  package init(_ schema: ModelSchema) throws {
    self.schema = schema
    let builder = try LayoutBuilder(schema)
    layouts = builder.layouts
    layoutsByName = Dictionary(uniqueKeysWithValues: layouts.map { ($0.entityName, $0) })
  }

  /// Version hashes of all entities by name, 32 bytes each; computed when first asked for.
  package var versionHashes: [String: [UInt8]] {
    _versionHashes.withLock { known in
      if let known { return known }
      let hashes = schema.entityVersionHashes()
      known = hashes
      return hashes
    }
  }

  /// Layout of the entity with this number.
  package func layout(numbered number: Int) -> PropertyLayout { layouts[number - 1] }
}

/// A model cannot be laid out; the message names entity and property and suggests a change.
package struct ModelLayoutError: Error, Sendable, CustomStringConvertible {
  package let entity: String
  package let property: String?
  package let reason: String

  package init(entity: String, property: String? = nil, reason: String) {
    self.entity = entity
    self.property = property
    self.reason = reason
  }

  package var description: String {
    if let property { "\(entity).\(property): \(reason)" } else { "\(entity): \(reason)" }
  }
}
