import CoreData
import Foundation

/// The model's versions, oldest first.
struct ModelCatalogue {
  struct Version {
    let name: String
    let model: NSManagedObjectModel
  }

  let versions: [Version]
  /// Version hashes of entities by the names of versions, as VersionInfo.plist lists them.
  let hashes: [String: [String: Data]]

  enum Failure: Error {
    case noModel(URL)
    case noVersionInfo(URL)
  }

  /// Reads a compiled model, a `.momd` with its VersionInfo.plist.
  init(contentsOf url: URL) throws {
    let info = url.appendingPathComponent("VersionInfo.plist")
    guard
      let plist = try PropertyListSerialization.propertyList(from: Data(contentsOf: info), format: nil)
        as? [String: Any],
      let hashes = plist["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
    else { throw Failure.noVersionInfo(info) }
    self.hashes = hashes
    versions = try hashes.keys.sorted { Self.number($0) < Self.number($1) }.map { name in
      let file = ["mom", "xcdatamodel"].map { url.appendingPathComponent("\(name).\($0)") }
        .first { FileManager.default.fileExists(atPath: $0.path) }
      guard let file, let model = NSManagedObjectModel(contentsOf: file) else { throw Failure.noModel(url) }
      return Version(name: name, model: model)
    }
  }

  /// The version whose hashes the store's metadata has, by VersionInfo.plist alone: no model is compared.
  func version(ofStoreWith metadata: [String: Any]) -> Version? {
    guard let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
    let name = hashes.first { $0.value == stored }?.key
    return versions.first { $0.name == name }
  }

  /// The version after a model, found by equality of models.
  func version(after model: NSManagedObjectModel) -> Version? {
    guard let index = versions.firstIndex(where: { $0.model == model }), index + 1 < versions.count else {
      return nil
    }
    return versions[index + 1]
  }

  private static func number(_ name: String) -> Int { Int(name.split(separator: " ").last ?? "") ?? 1 }
}

extension ModelCatalogue {
  /// Puts a VersionInfo.plist beside the versions of a model that no build has compiled.
  static func compile(_ source: URL, to url: URL) throws {
    try FileManager.default.copyItem(at: source, to: url)
    var hashes: [String: [String: Data]] = [:]
    for file in try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
    where file.pathExtension == "xcdatamodel" {
      let model = NSManagedObjectModel(contentsOf: file)
      hashes[file.deletingPathExtension().lastPathComponent] = model?.entityVersionHashesByName
    }
    let plist: [String: Any] = [
      "NSManagedObjectModel_CurrentVersionName": "Journal 10", "NSManagedObjectModel_VersionHashes": hashes,
    ]
    try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0)
      .write(to: url.appendingPathComponent("VersionInfo.plist"))
  }
}
