/// The response to a request.
package struct HTTPResponse: Sendable {
  package var status: Int
  /// Header fields; the server adds length and date.
  package var headers: [(name: String, value: String)]
  package var body: Body

  package enum Body: Sendable {
    case bytes([UInt8])
    /// Called for the next piece until it returns nil, on the connection's thread; an error closes the
    /// connection, so that the client does not mistake a truncated response for a complete one.
    case stream(@Sendable () throws -> [UInt8]?)
  }

  package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package init(status: Int = 200, headers: [(name: String, value: String)] = [], text: String) {
    self.init(status: status, headers: headers, body: .bytes(Array(text.utf8)))
  }
}
