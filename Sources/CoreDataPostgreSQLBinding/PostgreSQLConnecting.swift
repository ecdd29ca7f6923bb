import CoreDataCPostgreSQL
import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Connects on a thread of its own: resolving a name blocks, and can outlast every deadline. Not on a queue, whose
/// threads may all be waiting for the server.
enum PostgreSQLConnecting {
  /// The result of a connecting thread. The thread closes the connection if its caller no longer waits.
  private final class Outcome: Sendable {
    private struct State: @unchecked Sendable {
      // Unchecked: accessed under the lock only.
      var handle: OpaquePointer?
      var isAbandoned = false
    }

    let isReady = DispatchSemaphore(value: 0)
    private let _state = Mutex(State())

    func finish(_ handle: OpaquePointer?) {
      nonisolated(unsafe) let handle = handle
      let isAbandoned = _state.withLock { state in
        state.handle = handle
        return state.isAbandoned
      }
      if isAbandoned { PQfinish(handle) }
      isReady.signal()
    }

    /// Returns the connection, once it is ready.
    func take() -> OpaquePointer? {
      nonisolated(unsafe) var handle: OpaquePointer?
      _state.withLock { handle = $0.handle }
      return handle
    }

    func abandon() {
      nonisolated(unsafe) var handle: OpaquePointer?
      _state.withLock { state in
        state.isAbandoned = true
        handle = state.handle
      }
      if let handle { PQfinish(handle) }
    }
  }

  /// Returns a connection, good or bad.
  ///
  /// - Throws: `PostgreSQLDeadlineError`; `PostgreSQLCancellationError`; `PostgreSQLError` if memory is used up or the process is ending.
  static func handle(_ settings: [String: String], until deadline: PostgreSQLDeadline) throws -> OpaquePointer
  {
    let outcome = Outcome()
    guard PostgreSQLExit.begin() else {
      throw PostgreSQLError(state: nil, message: "the process is ending, and makes no more connections")
    }
    Thread.detachNewThread {
      outcome.finish(_connect(settings))
      PostgreSQLExit.end()
    }
    guard deadline.waits(for: outcome.isReady) else {
      outcome.abandon()
      if deadline.isCancelled { throw PostgreSQLCancellationError() }
      throw PostgreSQLDeadlineError(
        seconds: deadline.seconds ?? 0, what: "connecting to \(settings["host"] ?? "the server")")
    }
    guard let handle = outcome.take() else { throw PostgreSQLError(state: nil, message: "out of memory") }
    return handle
  }

  private static func _connect(_ settings: [String: String]) -> OpaquePointer? {
    let all = settings.sorted { $0.key < $1.key }
    return _withCStrings(all.map(\.key)) { keys in
      _withCStrings(all.map(\.value)) { values in
        // libpq goes on to the next of several hosts only while it waits itself.
        if settings["host"]?.contains(",") ?? false || settings["hostaddr"]?.contains(",") ?? false {
          return PQconnectdbParams(keys, values, 0)
        }
        return _connect(keys, values, seconds: settings["connect_timeout"].flatMap(Double.init) ?? 0)
      }
    }
  }

  /// Connects to a single host, with the SQLSTATE in the message of a refusal.
  private static func _connect(
    _ keys: UnsafePointer<UnsafePointer<CChar>?>, _ values: UnsafePointer<UnsafePointer<CChar>?>,
    seconds: Double
  ) -> OpaquePointer? {
    guard let handle = PQconnectStartParams(keys, values, 0) else { return nil }
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    // As libpq does: none without a positive number, and at least two seconds.
    let deadline = seconds > 0 ? PostgreSQLDeadline(after: max(2, seconds)) : .never
    var step = PGRES_POLLING_WRITING
    while PQstatus(handle) != CONNECTION_BAD {
      var descriptor = pollfd(
        fd: PQsocket(handle), events: Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
      let count = poll(&descriptor, 1, deadline.pollTime)
      if count == 0, deadline.isPast { break }
      if count <= 0 { continue }
      step = PQconnectPoll(handle)
      if step == PGRES_POLLING_OK || step == PGRES_POLLING_FAILED { break }
    }
    PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    return handle
  }

  /// Returns what a connection that failed says, without the SQLSTATE and the place in the server's sources, which
  /// messages of refusals have.
  static func error(_ message: String) -> PostgreSQLError {
    var state: String?
    var lines: [Substring] = []
    for line in message.split(separator: "\n", omittingEmptySubsequences: true) {
      if line.hasPrefix("LOCATION:") { continue }
      // As in "FATAL:  53300: sorry, too many clients already"; the first word may be in another language.
      if state == nil, let match = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) {
        state = String(match.1)
        lines.append(line[..<match.range.lowerBound] + ":  " + line[match.range.upperBound...])
      } else {
        lines.append(line)
      }
    }
    return PostgreSQLError(
      state: nil, message: lines.isEmpty ? "timeout expired" : lines.joined(separator: "\n"), refusal: state)
  }

  private static func _withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = texts.map { text in text.withCString { copy($0) } }
    defer { for copy in copies { copy.deallocate() } }
    let pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }

    func copy(_ text: UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar> {
      var count = 0
      while text[count] != 0 { count += 1 }
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count + 1)
      copy.update(from: text, count: count + 1)
      return copy
    }
  }
}
