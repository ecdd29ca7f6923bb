import CoreDataCMicroHTTPD
import Foundation

/// An incoming request and its response. Used on the connection's thread only.
final class HTTPExchange {
  private let _connection: OpaquePointer
  private let _method: String
  private let _path: String
  private let _limits: HTTPServer.Limits
  private var _postProcessor: OpaquePointer?
  private var _fields: [(name: String, fileName: String?, bytes: [UInt8])] = []
  private var _received = 0
  private var _problem: HTTPRequest.BodyProblem?
  /// The response that was decided on when only the head was known.
  private var _refusal: HTTPResponse?
  /// Bytes of a refused request's body that are read, and dropped: with unread bytes the client might not get the response.
  private static let _droppedBytes = 64 << 10

  var isRefused: Bool { _refusal != nil }

  init(_ connection: OpaquePointer, _ method: String, _ path: String, _ limits: HTTPServer.Limits) {
    _connection = connection
    _method = method
    _path = path
    _limits = limits
  }

  deinit { if let _postProcessor { MHD_destroy_post_processor(_postProcessor) } }

  // MARK: Request

  /// Decides whether the body is kept, when the head is known.
  ///
  /// - Returns: Whether to go on reading; false to refuse the request at once.
  func decide(_ admission: HTTPServer.Admission) -> Bool {
    let head = request()
    let lengths = head.headers.filter { $0.name == "content-length" }
    let isChunked = head.header("transfer-encoding") != nil
    // Two lengths, or a length beside chunks, are how one request is smuggled into another.
    if lengths.count > 1 || (isChunked && !lengths.isEmpty) {
      _refusal = HTTPResponse(
        status: 400, headers: [("Content-Type", "text/plain; charset=utf-8")],
        text: "The request has two lengths.\n")
      return false
    }
    let length = isChunked ? Int.max : lengths.first.map { Int($0.value) ?? .max } ?? 0
    guard length > 0 else { return true }
    _refusal = admission(head)
    return _refusal == nil || length <= Self._droppedBytes
  }

  /// Passes the refusal to the library, which closes the connection after it.
  func refuse(on connection: OpaquePointer) -> MHD_Result {
    guard var answer = _refusal else { return coredata_http_no() }
    answer.headers.append(("Connection", "close"))
    return queue(answer, on: connection)
  }

  /// Receives a piece of the body.
  func receive(_ bytes: UnsafePointer<CChar>?, _ count: Int) {
    if isRefused { return }
    _received += count
    if _received > _limits.bodyBytes { _problem = .tooLarge }
    guard _problem == nil, let bytes else { return }
    if _postProcessor == nil {
      _postProcessor = MHD_create_post_processor(
        _connection, 64 << 10, Self._takeField, Unmanaged.passUnretained(self).toOpaque())
    }
    guard let _postProcessor else {
      _problem = .unknownType
      return
    }
    if MHD_post_process(_postProcessor, bytes, count) == coredata_http_no() { _problem = .unknownType }
  }

  /// Fields arrive in pieces: each begins at offset 0.
  private static let _takeField: MHD_PostDataIterator = {
    context, _, key, fileName, _, _, data, offset, size in
    guard let context, let key else { return coredata_http_no() }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
    if offset == 0 || exchange._fields.isEmpty {
      guard exchange._fields.count < 2_000 else { return coredata_http_no() }
      exchange._fields.append((String(cString: key), fileName.map { String(cString: $0) }, []))
    }
    if let data, size > 0 {
      exchange._fields[exchange._fields.count - 1].bytes += UnsafeRawBufferPointer(start: data, count: size)
    }
    return coredata_http_yes()
  }

  /// The request, once it is complete.
  func request() -> HTTPRequest {
    if let processor = _postProcessor {
      // Flushes the rest of the post processor.
      _postProcessor = nil
      if MHD_destroy_post_processor(processor) == coredata_http_no(), _problem == nil {
        _problem = .unknownType
      }
    }
    return HTTPRequest(
      method: _method, path: _path, query: _values(coredata_http_each_argument),
      headers: _values(coredata_http_each_header).map { ($0.name.lowercased(), $0.value) },
      cookies: Dictionary(
        _values(coredata_http_each_cookie).map { ($0.name, $0.value) },
        uniquingKeysWith: { first, _ in first }),
      form: _fields.map { HTTPRequest.FormField(name: $0.name, fileName: $0.fileName, bytes: $0.bytes) },
      bodyProblem: _problem, client: HTTPClient(socket: coredata_http_socket(_connection)))
  }

  private final class ValueList {
    var values: [(name: String, value: String)] = []
  }

  private typealias Enumeration = (OpaquePointer?, MHD_KeyValueIteratorN?, UnsafeMutableRawPointer?) -> Int32

  private func _values(_ enumerate: Enumeration) -> [(name: String, value: String)] {
    let list = ValueList()
    _ = enumerate(
      _connection,
      { context, _, key, keySize, value, valueSize in
        guard let context, let key else { return coredata_http_no() }
        func text(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
          String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
        Unmanaged<ValueList>.fromOpaque(context).takeUnretainedValue().values.append(
          (text(key, keySize), value.map { text($0, valueSize) } ?? ""))
        return coredata_http_yes()
      }, Unmanaged.passUnretained(list).toOpaque())
    return list.values
  }

  // MARK: Response

  /// Passes the response to the library.
  func queue(_ answer: HTTPResponse, on connection: OpaquePointer) -> MHD_Result {
    let response: OpaquePointer?
    switch answer.body {
    case .bytes(let bytes):
      response = bytes.withUnsafeBytes { coredata_http_copying($0.baseAddress, $0.count) }
    case .stream(let next):
      response = MHD_create_response_from_callback(
        coredata_http_unknown_size(), 32 << 10, HTTPBodyReader.read,
        Unmanaged.passRetained(HTTPBodyReader(next)).toOpaque(), HTTPBodyReader.free)
    }
    guard let response else { return coredata_http_no() }
    defer { MHD_destroy_response(response) }
    for (name, value) in answer.headers { MHD_add_response_header(response, name, value) }
    return MHD_queue_response(connection, UInt32(answer.status), response)
  }
}

/// Provides a body piece by piece, each as long as the library has room for.
private final class HTTPBodyReader {
  private let _next: @Sendable () throws -> [UInt8]?
  private var _piece: ArraySlice<UInt8> = []

  init(_ next: @escaping @Sendable () throws -> [UInt8]?) { _next = next }

  static let read: MHD_ContentReaderCallback = { context, _, buffer, size in
    guard let context, let buffer else { return coredata_http_failure() }
    return Unmanaged<HTTPBodyReader>.fromOpaque(context).takeUnretainedValue()._fill(buffer, size)
  }

  static let free: MHD_ContentReaderFreeCallback = { context in
    guard let context else { return }
    Unmanaged<HTTPBodyReader>.fromOpaque(context).release()
  }

  private func _fill(_ buffer: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
    while _piece.isEmpty {
      do {
        guard let next = try _next() else { return coredata_http_end() }
        _piece = next[...]
      } catch {
        return coredata_http_failure()
      }
    }
    let count = min(size, _piece.count)
    _piece.prefix(count).withUnsafeBytes {
      UnsafeMutableRawPointer(buffer).copyMemory(from: $0.baseAddress!, byteCount: count)
    }
    _piece = _piece.dropFirst(count)
    return count
  }
}
