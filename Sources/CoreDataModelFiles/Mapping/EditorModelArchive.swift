import Foundation

/// The archive of a model version in an editable mapping model: objects of the editor, without hashes.
enum EditorModelArchive {
  /// Returns the names of each entity's own properties; nil if the data is no such archive.
  static func properties(in data: Data) -> [String: Set<String>]? {
    guard let archive = try? KeyedArchive(data),
      let package = archive.object(archive.root?.fields["_xd_rootPackage"]),
      let entities = archive.dictionary(package.fields["XDBucketForClassesstorage"])
    else { return nil }
    var properties: [String: Set<String>] = [:]
    for (name, value) in entities {
      guard let entity = archive.object(value) else { return nil }
      let own = archive.dictionary(entity.fields["XDBucketForOwnedAttributesstorage"]) ?? []
      properties[name] = Set(own.map(\.key))
    }
    return properties
  }
}
