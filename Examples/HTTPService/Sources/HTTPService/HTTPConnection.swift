import Foundation

/// One connection: reads a request within limits, writes the response, closes.
struct HTTPConnection {
  private let _socket: Int32
  private let _deadline = DispatchTime.now() + 10
  private static let _headLimit = 8 << 10
  private static let _bodyLimit = 64 << 10

  init(_ socket: Int32) { _socket = socket }

  func answer(_ answer: (HTTPRequest) -> HTTPResponse) {
    defer { close(_socket) }
    do {
      _write(answer(try _read()))
    } catch let refusal as HTTPResponse {
      _write(refusal)
    } catch {}
  }

  // MARK: Reading

  /// The client has disconnected, or is too slow.
  private struct Gone: Error {}

  /// - Throws: An `HTTPResponse` that refuses the request, or `Gone`.
  private func _read() throws -> HTTPRequest {
    var bytes: [UInt8] = []
    let end = Array("\r\n\r\n".utf8)
    var headLength: Int?
    while headLength == nil {
      guard bytes.count < Self._headLimit else {
        throw HTTPResponse(431, "The head of the request is too long.")
      }
      let searched = max(0, bytes.count - 3)
      bytes += try _more(4096)
      headLength = bytes[searched...].indices.first { bytes[$0...].starts(with: end) }
    }
    let (head, rest) = (bytes[..<headLength!], bytes[(headLength! + 4)...])
    var request = try HTTPRequest(head: String(decoding: head, as: UTF8.self))
    guard request.headers["transfer-encoding"] == nil else {
      throw HTTPResponse(501, "Send the body with its Content-Length.")
    }
    let announced = request.headers["content-length"] ?? "0"
    guard let length = Int(announced), length >= 0, announced.utf8.allSatisfy({ (48...57).contains($0) })
    else {
      throw HTTPResponse(400, "The Content-Length is no number.")
    }
    guard length <= Self._bodyLimit else { throw HTTPResponse(413, "The body is longer than 64 KiB.") }
    var body = Array(rest)
    while body.count < length { body += try _more(length - body.count) }
    request.body = Data(body.prefix(length))
    return request
  }

  private func _more(_ count: Int) throws -> ArraySlice<UInt8> {
    let left = Int64(_deadline.uptimeNanoseconds) - Int64(DispatchTime.now().uptimeNanoseconds)
    var wanted = pollfd(fd: _socket, events: Int16(POLLIN), revents: 0)
    guard left > 0, poll(&wanted, 1, Int32(left / 1_000_000) + 1) > 0 else { throw Gone() }
    var buffer = [UInt8](repeating: 0, count: min(count, 1 << 14))
    let received = recv(_socket, &buffer, buffer.count, 0)
    guard received > 0 else { throw Gone() }
    return buffer[..<received]
  }

  // MARK: Writing

  private func _write(_ response: HTTPResponse) {
    let bytes = response.bytes
    var wait = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(_socket, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var done = 0
    while done < bytes.count {
      let sent = bytes.withUnsafeBytes {
        send(_socket, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return }
      done += sent
    }
    // A client that is still sending would lose the response if the connection were closed, so reads a little
    // of the rest.
    shutdown(_socket, Int32(SHUT_WR))
    for _ in 0..<64 { if (try? _more(1 << 14)) == nil { break } }
  }
}
