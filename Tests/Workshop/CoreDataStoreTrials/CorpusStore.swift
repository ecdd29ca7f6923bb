import Foundation

/// A store of the collection of files that Apple's framework wrote.
package struct CorpusStore: Sendable, CustomStringConvertible {
  /// Path below the collection's `stores`.
  package let name: String
  package let url: URL
  /// The model as the editor wrote it.
  package let contents: URL?
  /// The model as the compiler wrote it.
  package let compiled: URL?

  package var description: String { name }

  /// Whether its metadata are missing: the only damaged store of the collection.
  package var isDamaged: Bool { name == "plaso/macos-NotesV7.storedata" }

  /// Where the collection is, seen from a package at `root`.
  package static func collection(besidePackage root: URL) -> URL {
    root.deletingLastPathComponent().appendingPathComponent("shared/corpus")
  }

  private static let _extensions: Set<String> = [
    "sqlite", "moody", "db", "CDBStore", "storedata", "wiredatabase",
  ]

  private static let _compiled = [
    "coredataplus/SampleModel_V1": "coredataplus/SampleModel/SampleModel.momd/SampleModel.mom",
    "coredataplus/SampleModel_V2": "coredataplus/SampleModel/SampleModel.momd/SampleModel2.mom",
    "coredataplus/SampleModel3_V1": "coredataplus/SampleModel3/SampleModel3.momd/SampleModel3.mom",
  ]

  /// All stores of a collection by name; empty if there is no collection.
  package static func all(in collection: URL) -> [CorpusStore] {
    let files = FileManager.default
    let root = collection.appendingPathComponent("stores")
    func present(_ url: URL) -> URL? { files.fileExists(atPath: url.path) ? url : nil }
    let names = (try? files.subpathsOfDirectory(atPath: root.path)) ?? []
    return names.filter { _extensions.contains(($0 as NSString).pathExtension) }.sorted().map { name in
      let url = root.appendingPathComponent(name)
      let base = url.lastPathComponent.split(separator: ".")[0]
      let model = url.deletingLastPathComponent().appendingPathComponent("models/\(base).xcdatamodel.xml")
      let key = "\(url.deletingLastPathComponent().lastPathComponent)/\(base)"
      return CorpusStore(
        name: name, url: url, contents: present(model),
        compiled: _compiled[key].flatMap { present(collection.appendingPathComponent("compiled/\($0)")) })
    }
  }
}
