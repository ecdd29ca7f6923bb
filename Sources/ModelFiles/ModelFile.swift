import Foundation
import ModelSchema

/// Reads model files of every kind.
package enum ModelFile {
  /// Reads the model at `path`: of a directory with several versions, the current one.
  ///
  /// - Throws: `ModelFileError`.
  package static func load(path: String) throws -> ModelSchema {
    throw ModelFileError(path: path, reason: "to come")
  }
}
