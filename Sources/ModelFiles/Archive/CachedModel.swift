import Foundation
import ModelSchema

/// The model that a SQLite store keeps of itself (`Z_CONTENT` in `Z_MODELCACHE`): a compiled model, packed.
package enum CachedModel {
  /// Reads the model from the column's bytes; `path` is only used in messages.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(_ data: Data, path: String) throws -> ModelSchema {
    let archive: Data
    do {
      archive = try Inflate.unpack(data, limit: XMLTreeReader.sizeLimit)
    } catch {
      throw ModelFileError(path: path, reason: "the model kept in the store cannot be unpacked: \(error.reason)")
    }
    return try CompiledModelReader.read(archive, path: path)
  }
}
