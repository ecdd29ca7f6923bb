import CoreData
import Foundation

/// The model's versions, oldest first.
struct ModelCatalogue {
  struct Version {
    let name: String
    let model: NSManagedObjectModel
  }

  let versions: [Version]
  /// Version hashes of entities by version name, from VersionInfo.plist.
  let hashes: [String: [String: Data]]

  enum Failure: Error {
    case noModel(String)
    case noVersionInfo(URL)
  }

  /// Reads the versions of a compiled model in a bundle, and its VersionInfo.plist.
  init(named name: String, in bundle: Bundle) throws {
    guard let url = bundle.url(forResource: name, withExtension: "momd") else { throw Failure.noModel(name) }
    let info = url.appendingPathComponent("VersionInfo.plist")
    guard
      let plist = try PropertyListSerialization.propertyList(from: Data(contentsOf: info), format: nil)
        as? [String: Any],
      let hashes = plist["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
    else { throw Failure.noVersionInfo(info) }
    self.hashes = hashes
    versions = try hashes.keys.sorted { Self._number($0) < Self._number($1) }.map { version in
      guard
        let file = bundle.url(forResource: version, withExtension: "mom", subdirectory: "\(name).momd"),
        let model = NSManagedObjectModel(contentsOf: file)
      else { throw Failure.noModel(version) }
      return Version(name: version, model: model)
    }
  }

  /// Returns the version whose hashes match the store's metadata. Uses VersionInfo.plist only, without
  /// comparing models.
  func version(ofStoreWith metadata: [String: Any]) -> Version? {
    guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
    let name = hashes.first { $0.value == stored }?.key
    return versions.first { $0.name == name }
  }

  /// Returns the version after a model, found by equality.
  func version(after model: NSManagedObjectModel) -> Version? {
    guard let index = versions.firstIndex(where: { $0.model.isEqual(model) }), index + 1 < versions.count
    else {
      return nil
    }
    return versions[index + 1]
  }

  private static func _number(_ name: String) -> Int { Int(name.split(separator: " ").last ?? "") ?? 1 }
}
