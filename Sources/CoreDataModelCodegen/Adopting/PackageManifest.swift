import CoreDataSwiftLexer
import Foundation

/// The targets of a package as far as its manifest says them outright.
struct PackageManifest: Sendable {
  struct Target: Sendable {
    let name: String
    let usesModelPlugin: Bool
  }

  /// The package's directory, with a slash at its end.
  private let _directory: String
  private let _targets: [String: Target]

  init(_ text: String, directory: String) {
    _directory = directory.hasSuffix("/") ? directory : directory + "/"
    var targets: [String: Target] = [:]
    let tokens = SourceLexer.tokens(in: text)
    let bytes = Array(text.utf8)
    func string(_ token: SourceToken) -> String {
      String(decoding: bytes[token.range], as: UTF8.self).trimmingCharacters(in: ["\""])
    }
    let kinds: Set<String> = ["target", "executableTarget", "testTarget"]
    let starts = tokens.indices.filter { index in
      kinds.contains(tokens[index].text) && index > 0 && tokens[index - 1].isPunctuation(".")
        && index + 3 < tokens.count && tokens[index + 1].isPunctuation("(")
        && tokens[index + 2].isKeyword("name")
        && tokens[index + 3].isPunctuation(":")
    }
    for start in starts where start + 4 < tokens.count {
      let name = string(tokens[start + 4])
      var depth = 0
      let body = tokens[(start + 1)...].prefix { token in
        if token.isPunctuation("(") { depth += 1 }
        if token.isPunctuation(")") { depth -= 1 }
        return depth > 0
      }
      let uses = body.contains { $0.kind == .string && string($0) == "CoreDataModelPlugin" }
      // A dependency `.target(name: "A")` is no declaration, and never names a plugin.
      if uses || targets[name] == nil { targets[name] = Target(name: name, usesModelPlugin: uses) }
    }
    _targets = targets
  }

  /// The target of a file in one of the usual directories.
  func target(of path: String) -> Target? {
    let path = URL(fileURLWithPath: path).standardizedFileURL.path
    guard path.hasPrefix(_directory) else { return nil }
    let parts = path.dropFirst(_directory.count).split(separator: "/")
    guard parts.count > 2, ["Sources", "Source", "src", "Tests"].contains(parts[0]) else { return nil }
    return _targets[String(parts[1])]
  }

  /// The manifests in the directories of some paths, or in those above them.
  static func all(around paths: [String]) -> [PackageManifest] {
    var found: [String: PackageManifest] = [:]
    for path in paths {
      var directory = URL(fileURLWithPath: path).standardizedFileURL
      while directory.pathComponents.count > 1 {
        if found[directory.path] != nil { break }
        let manifest = directory.appendingPathComponent("Package.swift")
        if let text = try? String(contentsOf: manifest, encoding: .utf8) {
          found[directory.path] = PackageManifest(text, directory: directory.path)
          break
        }
        directory.deleteLastPathComponent()
      }
    }
    return Array(found.values)
  }
}
