import CoreDataMicroHTTPDBinding
import Foundation
import Synchronization

/// Notifies a page of changes to the store: server-sent events, each with the number of the change.
struct EventStream {
  private let _visit: Visit

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    let store = _visit.store
    let place = try store.followers.acquire()
    let client = _visit.request.client
    let start = _visit.request.query("since").flatMap(Int.init) ?? store.clock.time
    let state = Mutex((time: start, isGreeted: false))
    return HTTPResponse(
      headers: SecurityHeaders.files + [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")],
      body: .stream {
        // Held until the stream ends.
        _ = place
        return Self._next(state, store.clock, client)
      })
  }

  /// Waits for the next change; sends a comment every 15 s, so that a broken connection is noticed.
  private static func _next(
    _ state: borrowing Mutex<(time: Int, isGreeted: Bool)>, _ clock: ChangeClock, _ client: HTTPClient
  ) -> [UInt8]? {
    let (time, isGreeted) = state.withLock { state in
      defer { state.isGreeted = true }
      return (state.time, state.isGreeted)
    }
    if !isGreeted { return Array("retry: 2000\n\n".utf8) }
    for _ in 0..<15 {
      guard let now = clock.wait(after: time, seconds: 1) else { return nil }
      if now != time {
        state.withLock { $0.time = now }
        return Array("data: \(now)\n\n".utf8)
      }
      if client.hasLeft { return nil }
    }
    return Array(": still here\n\n".utf8)
  }
}
