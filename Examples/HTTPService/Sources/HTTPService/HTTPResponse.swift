import Foundation

/// A response: a status and JSON, or no body. Thrown to refuse a request.
public struct HTTPResponse: Error, Sendable {
  public let status: Int
  public let body: Data

  public init(_ status: Int, json: some Encodable) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    self.status = status
    // All response types can be encoded.
    body = (try? encoder.encode(json)) ?? Data()
  }

  /// Creates a refusal, or another response with a message.
  public init(_ status: Int, _ message: String) { self.init(status, json: ["message": message]) }

  /// Success without content.
  public static let noContent = HTTPResponse(status: 204, body: Data())

  private init(status: Int, body: Data) {
    self.status = status
    self.body = body
  }

  private static let _reasons = [
    200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 404: "Not Found",
    405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large", 422: "Unprocessable Content",
    431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
    503: "Service Unavailable",
  ]

  /// The serialized response.
  var bytes: [UInt8] {
    var head = "HTTP/1.1 \(status) \(Self._reasons[status] ?? "")\r\nConnection: close\r\n"
    if status != 204 { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }
}
