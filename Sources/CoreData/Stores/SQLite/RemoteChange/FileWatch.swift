import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reports writes by any process to a file, or to another whose name starts with its name.
///
/// Watches the whole directory with inotify, since a database's log comes and goes. Without inotify, or if
/// its watches are exhausted, it calls the handler twice a second.
final class FileWatch: Sendable {
  private let _cancel: @Sendable () -> Void

  /// Starts watching until the watch is released.
  ///
  /// - Parameter handler: Called on an arbitrary thread, possibly without any change.
  init(path: String, _ handler: @escaping @Sendable () -> Void) {
    let url = URL(fileURLWithPath: path)
    #if canImport(Glibc) || canImport(Musl)
    let directory = url.deletingLastPathComponent().path
    if let cancel = DirectoryEvents.shared?.watch(directory, prefix: url.lastPathComponent, handler) {
      _cancel = cancel
      return
    }
    #endif
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + 0.5, repeating: 0.5, leeway: .milliseconds(100))
    timer.setEventHandler(handler: handler)
    timer.resume()
    // Unchecked: a dispatch source may be cancelled on any thread.
    nonisolated(unsafe) let source = timer
    _cancel = { source.cancel() }
  }

  deinit { _cancel() }
}

#if canImport(Glibc) || canImport(Musl)
/// The process's only inotify instance.
private final class DirectoryEvents: Sendable {
  private struct Watcher {
    let id: Int
    let prefix: [UInt8]
    let handler: @Sendable () -> Void
  }

  private struct State {
    var watchers: [Int32: [Watcher]] = [:]
    var nextID = 0
  }

  private let _descriptor: Int32
  private let _state = Mutex(State())

  /// Nil if the kernel provides no instance.
  static let shared = DirectoryEvents()

  private init?() {
    _descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard _descriptor >= 0 else { return nil }
    let source = DispatchSource.makeReadSource(fileDescriptor: _descriptor, queue: .global(qos: .utility))
    source.setEventHandler { [unowned self] in _receive() }
    source.resume()
    // Lives as long as the process, like the instance.
    _ = Unmanaged.passRetained(source as AnyObject)
  }

  /// Adds a watcher of a directory; nil if the kernel refuses.
  ///
  /// - Returns: A closure that ends the watch.
  func watch(
    _ directory: String, prefix: String, _ handler: @escaping @Sendable () -> Void
  ) -> (@Sendable () -> Void)? {
    let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE)
    return _state.withLock { state in
      // A directory already watched keeps its descriptor.
      let watch = inotify_add_watch(_descriptor, directory, mask)
      guard watch >= 0 else { return nil }
      state.nextID += 1
      let id = state.nextID
      state.watchers[watch, default: []].append(
        Watcher(id: id, prefix: Array(prefix.utf8), handler: handler))
      return { [unowned self] in _end(id, watch) }
    }
  }

  private func _end(_ id: Int, _ watch: Int32) {
    _state.withLock { state in
      state.watchers[watch]?.removeAll { $0.id == id }
      guard state.watchers[watch]?.isEmpty ?? false else { return }
      state.watchers[watch] = nil
      inotify_rm_watch(_descriptor, watch)
    }
  }

  private func _receive() {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 8) { buffer in
      while true {
        let count = read(_descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        _dispatch(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  /// Each event: watch, mask, cookie and length of 4 bytes each, then a zero-padded name.
  private func _dispatch(_ events: UnsafeRawBufferPointer) {
    var called: [@Sendable () -> Void] = []
    var seen = Set<Int>()
    _state.withLock { state in
      var place = 0
      while place + 16 <= events.count {
        let watch = events.loadUnaligned(fromByteOffset: place, as: Int32.self)
        let mask = events.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
        let length = Int(events.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
        let end = min(events.count, place + 16 + length)
        let name = events[(place + 16)..<end]
        place = end
        if mask & UInt32(IN_Q_OVERFLOW) != 0 {
          // Events were lost: notify all watchers.
          for watcher in state.watchers.values.joined() where seen.insert(watcher.id).inserted {
            called.append(watcher.handler)
          }
        }
        for watcher in state.watchers[watch] ?? []
        where name.starts(with: watcher.prefix) && seen.insert(watcher.id).inserted {
          called.append(watcher.handler)
        }
      }
    }
    for handler in called { handler() }
  }
}
#endif
