import CoreDataCPostgreSQL
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

// Waits for results, which end in time whatever server and network do.

extension PostgreSQLConnection {
  /// Seconds that a server has to end a statement that is cancelled. Then the connection is given up.
  static let grace = 2.0

  /// Waits for the result of a sent statement. Cancels the statement on request and at the deadline, and gives
  /// up the connection if that does not help.
  ///
  /// Waits for the result even after cancelling: a cancel request names the session, and must not hit the
  /// next statement.
  ///
  /// - Parameter isCopy: Whether the statement starts a COPY, after whose first result the server waits for
  ///   rows.
  func result(ofSending sent: Int32, isCopy: Bool = false) -> OpaquePointer? {
    guard sent == 1 else { return nil }
    var last: OpaquePointer?
    while true {
      awaitResult()
      guard let result = PQgetResult(handle) else { return last }
      if let last { PQclear(last) }
      last = result
      if isCopy, PQresultStatus(result) == PGRES_COPY_IN { return last }
    }
  }

  /// Waits until a result can be taken without waiting.
  func awaitResult() { _ = _await { PQisBusy(handle) == 0 } }

  /// Sends what libpq holds back because the network did not take it.
  ///
  /// - Returns: Whether it is sent.
  func flush() -> Bool { _await { PQflush(handle) <= 0 } && isUsable }

  /// Waits until a condition holds that input or output brings about.
  ///
  /// - Returns: Whether it holds; else the connection is lost.
  private func _await(_ isOver: () -> Bool) -> Bool {
    var ending: Ending?
    while true {
      let rest = PQflush(handle)
      if isOver() { break }
      if rest < 0 { return false }
      let limit = ending?.deadline ?? deadline
      if limit.isPast || limit.isCancelled {
        if limit.isPast, ending == nil { overdue = deadline.seconds }
        if ending != nil || endsAtDeadline {
          // The server or the network is silent: what waits on this connection fails.
          giveUp()
          ending?.finish()
          return false
        }
        ending = Ending(canceller())
        // From here on the request's own deadline holds.
        continue
      }
      var descriptor = pollfd(
        fd: PQsocket(handle), events: Int16(POLLIN | (rest > 0 ? POLLOUT : 0)), revents: 0)
      _ = poll(&descriptor, 1, limit.pollTime)
      if PQconsumeInput(handle) == 0 { return false }
    }
    // A request that is still under way could hit the next statement.
    if let ending, !ending.finish() { giveUp() }
    return true
  }

  /// A statement that is being cancelled. libpq's request blocks, and so runs on a thread of its own.
  private struct Ending {
    let deadline = PostgreSQLDeadline(after: PostgreSQLConnection.grace)
    private let _request = DispatchGroup()

    init(_ canceller: PostgreSQLCanceller?) {
      guard let canceller else { return }
      _request.enter()
      Thread.detachNewThread { [_request] in
        canceller.cancel()
        _request.leave()
      }
    }

    /// Waits for the request.
    ///
    /// - Returns: Whether it has ended.
    @discardableResult
    func finish() -> Bool { _request.wait(timeout: deadline.time) == .success }
  }
}
