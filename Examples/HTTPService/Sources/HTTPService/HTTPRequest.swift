import Foundation

/// The parts of a request that services use.
public struct HTTPRequest: Sendable {
  public let method: String
  public let path: String
  public let query: [String: String]
  /// By lowercase name.
  public let headers: [String: String]
  public internal(set) var body = Data()

  /// Parses the lines before the body.
  ///
  /// - Throws: The `HTTPResponse` that refuses an invalid request.
  init(head: String) throws {
    var lines = head.components(separatedBy: "\r\n")
    let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", words[1].first == "/",
      let target = URLComponents(string: String(words[1]))
    else { throw HTTPResponse(400, "This is no HTTP request.") }
    method = String(words[0])
    path = target.path
    query = Dictionary(
      (target.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    var headers: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, !line.hasPrefix(" ") else {
        throw HTTPResponse(400, "A header line has no name.")
      }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      // Two lengths, or two ways to mark the end of the body, allow requests to be smuggled past proxies.
      guard headers.updateValue(value, forKey: name) == nil || name != "content-length" else {
        throw HTTPResponse(400, "The request has two lengths.")
      }
    }
    self.headers = headers
  }
}
