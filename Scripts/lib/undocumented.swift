import Foundation

// Reads symbol graphs and lists public symbols without a comment. Used by
// Scripts/check documentation.

/// The part of a symbol graph that is used here.
struct Graph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable { let identifier: String }
    struct Identifier: Decodable { let precise: String }
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: String
      let position: Position
    }
    /// Decoded only to detect whether there is a comment.
    struct Comment: Decodable {}

    let kind: Kind
    let identifier: Identifier
    let pathComponents: [String]
    let docComment: Comment?
    /// Missing for symbols that the compiler synthesizes.
    let location: Location?
  }

  struct Relationship: Decodable {
    struct Origin: Decodable {}
    let kind: String
    let source: String
    /// Present for a symbol that implements a requirement documented elsewhere.
    let sourceOrigin: Origin?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]
}

@main
enum Undocumented {
  static func main() throws {
    let graphs = try CommandLine.arguments.dropFirst().map { path in
      try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }
    let elsewhere = Set(
      graphs.flatMap(\.relationships).filter { $0.kind == "overrides" || $0.sourceOrigin != nil }.map(
        \.source))
    var lines = Set<String>()
    var count = 0
    for symbol in graphs.flatMap(\.symbols) {
      guard let location = symbol.location, !symbol.identifier.precise.contains("::SYNTHESIZED::") else {
        continue
      }
      count += 1
      guard symbol.docComment == nil, !elsewhere.contains(symbol.identifier.precise) else { continue }
      let file = location.uri.components(separatedBy: "/Sources/").last ?? location.uri
      let kind = symbol.kind.identifier.replacing("swift.", with: "")
      lines.insert(
        "Sources/\(file):\(location.position.line + 1): \(kind) \(symbol.pathComponents.joined(separator: "."))"
      )
    }
    for line in lines.sorted() { print(line) }
    print("\(count) public symbols, \(lines.count) without a comment.")
    exit(lines.isEmpty ? 0 : 1)
  }
}
