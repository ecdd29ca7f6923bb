import Foundation

/// An answer: a status, and JSON unless there is nothing to say. Thrown where a request is refused.
struct HTTPResponse: Error, Sendable {
  let status: Int
  let body: Data

  init(_ status: Int, json: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    self.status = status
    // Nothing that is answered here cannot be encoded.
    body = (try? encoder.encode(json)) ?? Data()
  }

  /// A refusal, or another answer in words.
  init(_ status: Int, _ message: String) { self.init(status, json: ["message": message]) }

  /// Done, and there is nothing more to say.
  static let noContent = HTTPResponse(status: 204, body: Data())

  private init(status: Int, body: Data) {
    self.status = status
    self.body = body
  }

  private static let _reasons = [
    200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 404: "Not Found",
    405: "Method Not Allowed", 413: "Content Too Large", 422: "Unprocessable Content",
    431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
  ]

  /// The answer as it is sent.
  var bytes: [UInt8] {
    var head = "HTTP/1.1 \(status) \(Self._reasons[status] ?? "")\r\nConnection: close\r\n"
    if status != 204 { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }
}
