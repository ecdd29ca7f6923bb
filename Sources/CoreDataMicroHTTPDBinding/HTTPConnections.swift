import CoreDataCMicroHTTPD
import Dispatch
import Synchronization

/// The open connections of a server: closes those that only take up room.
///
/// All clients may have one address, as on a machine's own, so that limits by address would lock out the owner with a stranger.
final class HTTPConnections: Sendable {
  private enum Stage { case awaitsHead, isBusy, isIdle }

  private struct Entry {
    let socket: Int32
    var stage = Stage.awaitsHead
  }

  private struct State {
    var last: UInt = 0
    /// By number, which grows with each connection.
    var entries: [UInt: Entry] = [:]
  }

  private let _state = Mutex(State())
  private let _limit: Int
  private let _headSeconds: Double

  init(limit: Int, headSeconds: Double) { (_limit, _headSeconds) = (limit, headSeconds) }

  /// Takes in a connection, and closes another one if there are too many.
  ///
  /// - Returns: Its number, which is not 0.
  func add(_ socket: Int32) -> UInt {
    let number = _state.withLock { state -> UInt in
      // A socket's number is given again once its connection has been closed, which is told later.
      for (other, entry) in state.entries where entry.socket == socket { state.entries[other] = nil }
      state.last += 1
      state.entries[state.last] = Entry(socket: socket)
      if state.entries.count > _limit {
        let others = state.entries.filter { $0.key != state.last }
        let victim =
          others.filter { $0.value.stage == .awaitsHead }.keys.min()
          ?? others.filter { $0.value.stage == .isIdle }.keys.min() ?? state.last
        Self._close(victim, &state)
      }
      return state.last
    }
    // The library's deadline counts from the last byte, which a slow client sends in time.
    DispatchQueue.global().asyncAfter(deadline: .now() + _headSeconds) { [weak self] in
      self?._state.withLock { state in
        if state.entries[number]?.stage == .awaitsHead { Self._close(number, &state) }
      }
    }
    return number
  }

  func remove(_ number: UInt) { _state.withLock { $0.entries[number] = nil } }

  /// The connection has sent the head of a request.
  func hasHead(_ socket: Int32) { _set(.isBusy, socket) }

  /// The connection's request has ended; it may send another one.
  func isIdle(_ socket: Int32) { _set(.isIdle, socket) }

  private func _set(_ stage: Stage, _ socket: Int32) {
    _state.withLock { state in
      for (number, entry) in state.entries where entry.socket == socket {
        state.entries[number]?.stage = stage
      }
    }
  }

  /// Ends both directions; the library notices, and closes the socket.
  private static func _close(_ number: UInt, _ state: inout State) {
    guard let entry = state.entries.removeValue(forKey: number) else { return }
    coredata_http_shut(entry.socket)
  }
}
