import Foundation

/// The versions in an `.xcdatamodeld` or `.momd` directory.
package struct ModelVersions: Sendable {
  /// One version: its name, without extension, and its path.
  package struct Version: Sendable, Hashable {
    package let name: String
    package let path: String
  }

  /// All versions by name.
  package let versions: [Version]
  package let current: Version

  /// Lists the versions in the directory at `path`.
  ///
  /// - Throws: `ModelFileError` if there is none, or the current one is unknown.
  package init(path: String) throws {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let versions = files.filter { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }.sorted()
      .map { Version(name: ($0 as NSString).deletingPathExtension, path: "\(path)/\($0)") }
    guard !versions.isEmpty else {
      throw ModelFileError(path: path, reason: "no model in this directory: neither .xcdatamodel nor .mom")
    }
    self.versions = versions
    let stated = try Self._statedCurrent(path)
    if let stated {
      guard let current = versions.first(where: { $0.name == stated.name }) else {
        let names = versions.map(\.name).joined(separator: ", ")
        throw ModelFileError(
          path: stated.file,
          reason: "says the current version is '\(stated.name)', but there are only: \(names)")
      }
      self.current = current
      return
    }
    let bundleName = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    guard let current = versions.count == 1 ? versions[0] : versions.first(where: { $0.name == bundleName })
    else {
      throw ModelFileError(
        path: path,
        reason:
          "\(versions.count) versions and no .xccurrentversion that says which one is current; choose one")
    }
    self.current = current
  }

  private static func _statedCurrent(_ path: String) throws -> (name: String, file: String)? {
    for (file, key) in [
      (".xccurrentversion", "_XCCurrentVersionName"),
      ("VersionInfo.plist", "NSManagedObjectModel_CurrentVersionName"),
    ] {
      let file = "\(path)/\(file)"
      guard FileManager.default.fileExists(atPath: file) else { continue }
      let data = try ModelFile.bytes(ofFile: file)
      guard let name = (PropertyList.object(in: data) as? [String: Any])?[key] as? String else { continue }
      let pathExtension = (name as NSString).pathExtension
      let isFileName = pathExtension == "xcdatamodel" || pathExtension == "mom"
      return (isFileName ? (name as NSString).deletingPathExtension : name, file)
    }
    return nil
  }
}
