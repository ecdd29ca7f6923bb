import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import MainThreadWatch
import Synchronization

/// When the last saves of one saver were committed, by their numbers. Another process can read it.
final class CommitLog: @unchecked Sendable {
  // Unchecked: atomic numbers in mapped memory, which only `deinit` unmaps.

  private static let _capacity = 1 << 16
  private static let _size = (_capacity + 1) * MemoryLayout<Atomic<UInt64>>.stride
  /// The number of the last save, then the times of the last ones.
  private let _numbers: UnsafeMutablePointer<Atomic<UInt64>>

  /// A log in memory, or in a file that the other processes map, too.
  init(_ file: URL? = nil) throws {
    var descriptor: Int32 = -1
    if let file {
      descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0, ftruncate(descriptor, off_t(Self._size)) == 0 else {
        throw ToolFailure(
          .cannotCreateOutput, "'\(file.path)' cannot be made: \(String(cString: strerror(errno))).")
      }
    }
    defer { if descriptor >= 0 { close(descriptor) } }
    let flags = file == nil ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED
    guard let memory = mmap(nil, Self._size, PROT_READ | PROT_WRITE, flags, descriptor, 0),
      memory != MAP_FAILED
    else {
      throw ToolFailure(.internalError, "Memory cannot be mapped: \(String(cString: strerror(errno))).")
    }
    // Zeros are what new atomic numbers consist of.
    _numbers = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self._capacity + 1)
  }

  deinit { munmap(_numbers, Self._size) }

  /// The number of the last committed save; the first one is 1.
  var last: UInt64 { _numbers.pointee.load(ordering: .acquiring) }

  /// Records that the next save is committed. Called by one thread at a time.
  func commit(at time: UInt64 = MonotonicClock.now) {
    let number = last + 1
    _time(of: number).pointee.store(time, ordering: .relaxed)
    _numbers.pointee.store(number, ordering: .releasing)
  }

  /// How long the oldest save after a number has been committed, in nanoseconds; 0 if there is none.
  func age(after number: UInt64, at time: UInt64 = MonotonicClock.now) -> UInt64 {
    let last = last
    guard last > number else { return 0 }
    let oldest = max(number + 1, last < UInt64(Self._capacity) ? 1 : last - UInt64(Self._capacity) + 1)
    let committed = _time(of: oldest).pointee.load(ordering: .relaxed)
    return time > committed ? time - committed : 0
  }

  private func _time(of number: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>> {
    _numbers + (1 + Int(number % UInt64(Self._capacity)))
  }
}
