import CoreDataModelFiles
import Foundation

/// A lazily loaded model, verified against a checksum, by which staged migrations refer to versions.
///
/// Not safe to resolve from several threads at once.
///
/// ```swift
/// let reference = NSManagedObjectModelReference(
///   name: "Library 2", in: .main, versionChecksum: newModel.versionChecksum)
/// let model = try reference.resolve()
/// ```
open class NSManagedObjectModelReference: NSObject {
  private let _versionChecksum: String
  private let _load: () throws -> NSManagedObjectModel
  private var _resolved: NSManagedObjectModel?

  private init(_ versionChecksum: String, load: @escaping () throws -> NSManagedObjectModel) {
    _versionChecksum = versionChecksum
    _load = load
    super.init()
  }

  /// Refers to a model in memory.
  public convenience init(model: NSManagedObjectModel, versionChecksum: String) {
    self.init(versionChecksum) { model }
  }

  /// Refers to a model file: of a single version, or of the current one in a directory with several.
  public convenience init(fileURL: URL, versionChecksum: String) {
    self.init(versionChecksum) { try NSManagedObjectModel.load(contentsOf: fileURL) }
  }

  /// Refers to the entities with these version hashes in the models of `bundle` (nil: the program's).
  public convenience init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
  ) {
    self.init(versionChecksum) {
      var hashes: [String: Any] = [:]
      for (name, hash) in versionHash { hashes["\(name.base)"] = hash }
      let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
      let bundles = bundle.map { [$0] }
      guard let model = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata) else {
        throw ModelFileError(
          path: bundle?.bundlePath ?? Bundle.programPath,
          reason:
            "no model here has entities with the hashes asked for (\(hashes.keys.sorted().joined(separator: ", ")))"
        )
      }
      return model
    }
  }

  /// Refers to a version or model of this name in `bundle` (nil: the program's).
  public convenience init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(versionChecksum) {
      for model in ModelSearch.models(in: bundle.map { [$0] }) {
        for version in ModelSearch.versions(of: model) + [model]
        where version.deletingPathExtension().lastPathComponent == modelName {
          return try NSManagedObjectModel.load(contentsOf: version)
        }
      }
      throw ModelFileError(
        path: bundle?.bundlePath ?? Bundle.programPath,
        reason: "no model or version is named '\(modelName)' here")
    }
  }

  /// The model. Traps if it cannot be loaded or has another checksum, where Core Data raises.
  open var resolvedModel: NSManagedObjectModel {
    do {
      return try resolve()
    } catch {
      programmerError("can't resolve a model reference: \(error)")
    }
  }

  /// Loads the model.
  ///
  /// - Throws: An error for a model that cannot be loaded or has another checksum.
  ///
  /// > Note: Not in Apple's Core Data, where `resolvedModel` raises.
  public final func resolve() throws -> NSManagedObjectModel {
    if let _resolved { return _resolved }
    let model = try _load()
    // A program may contain a checksum from an earlier version of this package.
    guard model.versionChecksum == _versionChecksum || model.formerVersionChecksum == _versionChecksum else {
      throw ModelFileError(
        path: "model reference",
        reason:
          "the model has the version checksum \(model.versionChecksum), not \(_versionChecksum); it has changed since "
          + "the reference was written, or the reference names another version")
    }
    _resolved = model
    return model
  }

  /// The expected checksum of the model.
  open var versionChecksum: String { _versionChecksum }
}

extension NSManagedObjectModel {
  /// Returns the checksums of all versions in a model directory by version name; for a single file, its own.
  ///
  /// - Throws: An error for a version that cannot be read.
  public class func __checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
    let versions = ModelSearch.versions(of: modelURL)
    guard !versions.isEmpty else {
      throw ModelFileError(
        path: modelURL.path, reason: "no model in this directory: neither .xcdatamodel nor .mom")
    }
    var checksums: [String: String] = [:]
    for version in versions {
      checksums[version.deletingPathExtension().lastPathComponent] = try load(contentsOf: version)
        .versionChecksum
    }
    return checksums
  }
}
