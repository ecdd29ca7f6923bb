import Foundation

/// The folder of real files beside the package, if present.
package enum SharedCorpus {
  package static let root: URL? = {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let url = package.appendingPathComponent("../shared/corpus").standardizedFileURL
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  package static func json(_ file: String) throws -> [String: Any] {
    let data = try Data(contentsOf: root!.appendingPathComponent(file))
    return try JSONSerialization.jsonObject(with: data) as! [String: Any]
  }
}

extension SharedCorpus {
  /// Every model file of the corpus, as paths relative to its root.
  package static var models: [String] {
    guard let root else { return [] }
    let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".xcdatamodel.xml") }.sorted()
  }

  /// Every compiled model, as paths relative to the root.
  package static var compiledModels: [String] {
    guard let root else { return [] }
    let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".mom") }.sorted()
  }

  package static func data(_ path: String) throws -> Data {
    try Data(contentsOf: root!.appendingPathComponent(path))
  }
}

extension Array where Element == UInt8 {
  package var hex: String { map { String(format: "%02x", $0) }.joined() }
}
