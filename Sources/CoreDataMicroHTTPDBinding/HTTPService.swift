import CoreDataCMicroHTTPD
import Foundation

/// The callbacks of libmicrohttpd: collects a request, calls the handler, and queues the response.
final class HTTPService: Sendable {
  private let _handler: HTTPServer.Handler
  private let _admission: HTTPServer.Admission
  private let _connections: HTTPConnections
  let limits: HTTPServer.Limits

  init(
    _ handler: @escaping HTTPServer.Handler, _ admission: @escaping HTTPServer.Admission,
    _ limits: HTTPServer.Limits
  ) {
    (_handler, _admission) = (handler, admission)
    _connections = HTTPConnections(limit: limits.connections, headSeconds: limits.headSeconds)
    self.limits = limits
  }

  /// Called first when the headers of a request are complete, then for each piece of its body, then once
  /// more.
  static let access: MHD_AccessHandlerCallback = {
    context, connection, url, method, _, upload, uploadSize, slot in
    guard let context, let connection, let url, let method, let uploadSize, let slot else {
      return coredata_http_no()
    }
    let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
    guard let known = slot.pointee else {
      let exchange = HTTPExchange(connection, String(cString: method), String(cString: url), service.limits)
      slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
      service._connections.hasHead(coredata_http_socket(connection))
      if exchange.decide(service._admission) { return coredata_http_yes() }
      return exchange.refuse(on: connection)
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    if uploadSize.pointee > 0 {
      exchange.receive(upload, uploadSize.pointee)
      uploadSize.pointee = 0
      return coredata_http_yes()
    }
    if exchange.isRefused { return exchange.refuse(on: connection) }
    return exchange.queue(service._handler(exchange.request()), on: connection)
  }

  /// Called when a request has ended, with or without a response.
  static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
    guard let slot, let known = slot.pointee else { return }
    if let context, let connection {
      Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()._connections.isIdle(
        coredata_http_socket(connection))
    }
    Unmanaged<HTTPExchange>.fromOpaque(known).release()
    slot.pointee = nil
  }

  /// Called when a connection has been accepted, and when it has ended.
  static let notified: MHD_NotifyConnectionCallback = { context, connection, slot, kind in
    guard let context, let connection, let slot else { return }
    let service = Unmanaged<HTTPService>.fromOpaque(context).takeUnretainedValue()
    if coredata_http_has_started(kind) != 0 {
      // The number, since the socket's may be another file's by the time the connection ends.
      slot.pointee = UnsafeMutableRawPointer(
        bitPattern: service._connections.add(coredata_http_socket(connection)))
    } else {
      service._connections.remove(UInt(bitPattern: slot.pointee))
    }
  }
}
