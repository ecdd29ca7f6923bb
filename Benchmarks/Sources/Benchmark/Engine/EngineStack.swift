import CoreData
import Foundation
import Synchronization

/// A main context and a worker, and how saves get from one to the other.
final class EngineStack: Sendable {
  enum Design { case shared, nested3 }

  let main: NSManagedObjectContext
  let worker: NSManagedObjectContext
  private let _writer: NSManagedObjectContext?
  private let _group = DispatchGroup()
  private let _failure = Mutex<(any Error)?>(nil)
  private let _token: Mutex<Token>

  /// The notification center's receipt.
  private struct Token: @unchecked Sendable {
    // Unchecked: handed back to the center under the lock, and used for nothing else.
    var observer: (any NSObjectProtocol)?
  }

  /// A save on its way to main.
  private struct Save: @unchecked Sendable {
    // Unchecked: mergeChanges(fromContextDidSave:) takes it over on the context's queue, as Core Data
    // documents.
    let notification: Notification
  }

  init(_ design: Design, _ coordinator: NSPersistentStoreCoordinator) {
    main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _token = Mutex(Token())
    switch design {
    case .shared:
      _writer = nil
      main.persistentStoreCoordinator = coordinator
      worker.persistentStoreCoordinator = coordinator
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: worker, queue: nil
      ) { [weak self] notification in
        guard let self else { return }
        let save = Save(notification: notification)
        self._perform(on: self.main) { self.main.mergeChanges(fromContextDidSave: save.notification) }
      }
      _token.withLock { $0.observer = observer }
    case .nested3:
      let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      writer.persistentStoreCoordinator = coordinator
      _writer = writer
      main.parent = writer
      worker.parent = main
    }
  }

  /// Saves the worker, on whose queue it is called, and sends the save on its way.
  func save() throws {
    try worker.save()
    guard let writer = _writer else { return }
    _perform(on: main) { [self] in
      try main.save()
      _perform(on: writer) { try writer.save() }
    }
  }

  /// Waits until everything saved is on disk and known to main.
  func settle() throws {
    _group.wait()
    if let error = _failure.withLock({ $0 }) { throw error }
  }

  func end() {
    _token.withLock { token in
      if let observer = token.observer { NotificationCenter.default.removeObserver(observer) }
      token.observer = nil
    }
  }

  private func _perform(on context: NSManagedObjectContext, _ work: @escaping @Sendable () throws -> Void) {
    _group.enter()
    context.perform { [self] in
      defer { _group.leave() }
      do {
        try work()
      } catch {
        _failure.withLock { if $0 == nil { $0 = error } }
      }
    }
  }
}
