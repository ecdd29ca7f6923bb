import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import Dispatch
import Foundation
import Synchronization

/// Readers of one store, each used by one request at a time.
final class ReaderPool: @unchecked Sendable {
  // Unchecked: readers are in `_idle`, under its lock, or in use by exactly one request.

  /// No reader became free within the time limit of a page.
  struct Busy: Error, CustomStringConvertible {
    var description: String { "Too many pages are being read at once. Try again in a moment." }
  }

  private struct Idle: @unchecked Sendable {
    // Unchecked: as the pool itself.
    var readers: [StoreReader] = []
  }

  private let _path: String
  private let _model: ModelSchema
  private let _idle = Mutex(Idle())
  private let _free: DispatchSemaphore
  private let _count: Int

  init(path: String, model: ModelSchema, count: Int = 6) {
    _path = path
    _model = model
    _count = count
    _free = DispatchSemaphore(value: count)
  }

  /// Provides a reader that sees the current state of the store.
  ///
  /// - Throws: Errors of `body` and of opening the store, `Busy`, `QueryBudget.Exceeded`.
  func read<Result>(_ budget: QueryBudget, _ body: (StoreReader) throws -> Result) throws -> Result {
    guard _free.wait(timeout: .now() + budget.seconds) == .success else { throw Busy() }
    defer { _free.signal() }
    let reader = try _reader()
    let result = try budget.run { try body(reader) }
    // A reader with a failure is not used again.
    _idle.withLock { $0.readers.append(reader) }
    return result
  }

  private func _reader() throws -> StoreReader {
    while let known = _idle.withLock({ $0.readers.popLast() }) {
      if (try? known.refresh()) == true { return known }
    }
    return try StoreReader(path: _path, model: _model)
  }
}
