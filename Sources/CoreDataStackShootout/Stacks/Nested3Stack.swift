import CoreData

/// Writer, main, worker: the Big Nerd Ranch stack.
///
/// A save moves up one level at a time, on each level's own queue: from the worker to main, from main to the
/// writer, from the writer to disk. No level waits for its parent.
struct Nested3Stack: ImportStack {
  let main: NSManagedObjectContext
  private(set) var importing: NSManagedObjectContext
  private let _writer: NSManagedObjectContext
  private let _coordinator: NSPersistentStoreCoordinator
  private let _pending = PendingWork()

  init(_ coordinator: NSPersistentStoreCoordinator) {
    _coordinator = coordinator
    _writer = coordinator.makeContext()
    main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = _writer
    importing = main.makeChild()
  }

  func save() throws {
    try importing.save()
    _pending.perform(on: main) { [main, _writer, _pending] in
      try main.save()
      _pending.perform(on: _writer) { try _writer.save() }
    }
  }

  func saveMain() throws {
    try main.save()
    _pending.perform(on: _writer) { [_writer] in try _writer.save() }
  }

  func drain() throws { try _pending.wait() }

  func beside() -> any ImportStack {
    var other = self
    other.importing = main.makeChild()
    return other
  }

  func close() throws { try _coordinator.removeStores() }
}
