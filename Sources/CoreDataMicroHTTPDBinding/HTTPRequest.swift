import CoreDataCMicroHTTPD
import Foundation
import Synchronization

/// A complete request.
package struct HTTPRequest: Sendable {
  /// The method as sent by the client, such as `GET` or `POST`.
  package let method: String
  /// Path without query, percent-decoded.
  package let path: String
  /// Fields of the query, decoded, in order.
  package let query: [(name: String, value: String)]
  /// Header fields; names in lower case.
  package let headers: [(name: String, value: String)]
  /// Cookies by name; of several with one name, the first.
  package let cookies: [String: String]
  /// Fields of a form that was posted, decoded.
  package let form: [FormField]
  /// Why the body could not be read; nil if it could, or is missing.
  package let bodyProblem: BodyProblem?
  /// The client, which may have disconnected.
  package let client: HTTPClient

  /// A problem with a body.
  package enum BodyProblem: Sendable {
    /// The body is longer than the server accepts.
    case tooLarge
    /// The body is not a form.
    case unknownType
  }

  /// A field of a form.
  package struct FormField: Sendable {
    package let name: String
    /// Name of the uploaded file; nil for a plain field.
    package let fileName: String?
    package let bytes: [UInt8]
    /// The bytes as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// The first value of a query field; nil if it is missing.
  package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The first value of a header field; the name in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// Number of header fields of a name; in lower case.
  package func headerCount(_ name: String) -> Int { headers.count { $0.name == name } }

  /// The text of a form's field; nil if it is missing.
  package func field(_ name: String) -> String? { form.first { $0.name == name }?.text }
}

/// The other end of a connection.
package struct HTTPClient: Sendable {
  private let _socket: Int32

  init(socket: Int32) { _socket = socket }

  /// Whether the client has closed the connection and no longer waits for a response. Callable on any thread
  /// while the request is being processed.
  package var hasLeft: Bool {
    _socket >= 0 && coredata_http_has_left(_socket) != 0
  }
}
