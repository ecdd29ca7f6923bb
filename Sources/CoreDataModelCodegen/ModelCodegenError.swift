/// A model for which no classes can be generated: the offending part, and how to fix it.
package struct ModelCodegenError: Error, Sendable, CustomStringConvertible {
  package let entity: String
  package let property: String?
  package let reason: String

  init(entity: String, property: String? = nil, reason: String) {
    self.entity = entity
    self.property = property
    self.reason = reason
  }

  package var description: String {
    property.map { "entity '\(entity)', property '\($0)': \(reason)" } ?? "entity '\(entity)': \(reason)"
  }
}

/// A source file that was written.
package struct GeneratedFile: Sendable, Hashable {
  /// Name without directory.
  package let name: String
  package let text: String
}
