// Prints the names in symbol graphs with the number of their overloads, tab between: 'Schema.Entity.init(_:)<tab>1'.
import Foundation

struct Graph: Decodable {
  struct Symbol: Decodable {
    let pathComponents: [String]
    let accessLevel: String
  }
  let symbols: [Symbol]
}

@main struct PublicNames {
  static func main() throws {
    var counts: [String: Int] = [:]
    for path in CommandLine.arguments.dropFirst() {
      let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
      for symbol in graph.symbols where symbol.accessLevel == "public" || symbol.accessLevel == "open" {
        counts[symbol.pathComponents.joined(separator: "."), default: 0] += 1
      }
    }
    for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("\(name)\t\(count)") }
  }
}
