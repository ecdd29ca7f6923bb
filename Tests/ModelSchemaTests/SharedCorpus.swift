import Foundation

/// The folder of real files beside the package, if it is there.
enum SharedCorpus {
  static let root: URL? = {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    for candidate in ["../shared/corpus"] {
      let url = package.appendingPathComponent(candidate).standardizedFileURL
      if FileManager.default.fileExists(atPath: url.path) { return url }
    }
    return nil
  }()

  static func json(_ file: String) throws -> [String: Any] {
    let data = try Data(contentsOf: root!.appendingPathComponent(file))
    return try JSONSerialization.jsonObject(with: data) as! [String: Any]
  }
}

extension Array where Element == UInt8 {
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
