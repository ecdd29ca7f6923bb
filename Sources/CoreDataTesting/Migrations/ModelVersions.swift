import CoreData
import Foundation

/// The versions of a model, by name.
public struct ModelVersions: @unchecked Sendable {
  // Unchecked: a loaded model is not changed any more.
  private let _models: [String: NSManagedObjectModel]
  private let _name: String

  /// The versions of a model in a bundle: the files of its `.momd` or `.xcdatamodeld`.
  ///
  /// - Throws: `TestStoreError` if the bundle has no model of the name with versions.
  public init(_ name: String, in bundle: Bundle = .main) throws {
    for (form, part) in [("momd", "mom"), ("xcdatamodeld", "xcdatamodel")] {
      guard let url = bundle.url(forResource: name, withExtension: form) else { continue }
      let files = try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
      let versions = files.filter { $0.pathExtension == part }
      guard !versions.isEmpty else { continue }
      _models = try Dictionary(
        uniqueKeysWithValues: versions.map {
          ($0.deletingPathExtension().lastPathComponent, try ModelShelf.model(at: $0))
        })
      _name = name
      return
    }
    throw TestStoreError("There is no model '\(name)' with versions in \(bundle.bundlePath).")
  }

  /// The versions' names, in order.
  public var names: [String] {
    _models.keys.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
  }

  /// The version with a name.
  ///
  /// - Throws: `TestStoreError` if there is none.
  public subscript(name: String) -> NSManagedObjectModel {
    get throws {
      guard let model = _models[name] else {
        throw TestStoreError(
          "The model '\(_name)' has no version '\(name)'; it has \(names.joined(separator: ", ")).")
      }
      return model
    }
  }

  /// The version that made a store.
  ///
  /// - Throws: `TestStoreError` if none did, or the store cannot be read.
  public func model(of store: URL) throws -> NSManagedObjectModel {
    let metadata: [String: Any]
    do {
      metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: store, options: nil)
    } catch {
      throw TestStoreError("The store \(store.path) cannot be read: \(error)")
    }
    for name in names.reversed() {
      if let model = _models[name],
        model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      {
        return model
      }
    }
    throw TestStoreError(
      "No version of the model '\(_name)' made \(store.lastPathComponent): none of \(names.joined(separator: ", ")) has its "
        + "version hashes.")
  }
}
