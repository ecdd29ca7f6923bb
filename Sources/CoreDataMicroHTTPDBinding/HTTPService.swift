import CoreDataCMicroHTTPD
import Foundation

/// The callbacks of libmicrohttpd: collects a request, calls the handler, and queues the response.
final class HTTPService: Sendable {
  private let _handler: HTTPServer.Handler
  let limits: HTTPServer.Limits

  init(_ handler: @escaping HTTPServer.Handler, _ limits: HTTPServer.Limits) {
    _handler = handler
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
      return coredata_http_yes()
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    if uploadSize.pointee > 0 {
      exchange.receive(upload, uploadSize.pointee)
      uploadSize.pointee = 0
      return coredata_http_yes()
    }
    return exchange.queue(service._handler(exchange.request()), on: connection)
  }

  /// Called when a request has ended, with or without a response.
  static let completed: MHD_RequestCompletedCallback = { _, _, slot, _ in
    guard let slot, let known = slot.pointee else { return }
    Unmanaged<HTTPExchange>.fromOpaque(known).release()
    slot.pointee = nil
  }
}
