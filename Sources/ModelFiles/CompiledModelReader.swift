import Foundation
import ModelSchema

/// Reads compiled models.
package enum CompiledModelReader {
  /// Reads the keyed archive of a model: a `.mom`, or what a store keeps of its model.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(_ data: Data, path: String) throws -> ModelSchema {
    throw ModelFileError(path: path, reason: "to come")
  }
}
