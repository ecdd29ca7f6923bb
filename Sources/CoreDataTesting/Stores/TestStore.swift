import CoreData
import Foundation

/// A test's own store, and the test's expectations of it. May be used from any thread.
///
/// The trait `coreData` gives each test a new one, `CoreDataTestCase` each method:
///
/// ```swift
/// @MainActor @Suite(.coreData("Library", bundle: .module))
/// struct ShelfTests {
///   let store: TestStore
///
///   init() throws { store = try TestStore.current }
///
///   @Test func `A book without a shelf is on none`() throws {
///     let book = try store.make(Book.self)
///     try store.viewContext.save()
///     store.expect(book.shelf == nil)
///   }
/// }
/// ```
///
/// Failures of its expectations reach the test also from the queue of a context, where neither framework knows
/// which test is running.
public final class TestStore: @unchecked Sendable {
  // Unchecked: immutable, except for guarded members; a container may be used from any thread.

  /// The container, with its store open.
  public let container: NSPersistentContainer
  /// Where the store is.
  public let kind: TestStoreKind
  let report: FailureReport
  let test: String
  private let _settings: TestStoreSettings
  private let _directory: Guarded<TestDirectory?>
  private let _descriptions = Guarded<[Description]>([])
  private let _containers = Guarded<[WeakContainer]>([])
  private let _contexts: Guarded<[WeakContext]>
  let made = Guarded<[String: Int]>([:])
  let statements = StatementCount()

  private struct Description: @unchecked Sendable {
    // Unchecked: not changed after its store is open.
    let description: NSPersistentStoreDescription
  }

  private struct WeakContext: @unchecked Sendable {
    // Unchecked: only given blocks.
    weak var context: NSManagedObjectContext?
  }

  private struct WeakContainer: @unchecked Sendable {
    // Unchecked: a container may be used from any thread.
    weak var container: NSPersistentContainer?
  }

  /// Opens a store.
  ///
  /// - Parameter test: The test's name, for messages and snapshots.
  init(_ settings: TestStoreSettings, _ report: FailureReport, of test: String) throws {
    let model = try settings.makeModel()
    guard !model.entities.isEmpty else {
      throw TestStoreError("The model of the test's store has no entities: it was not found, or is empty.")
    }
    self.report = report
    self.test = test
    _contexts = Guarded([])
    kind = settings.kind
    _settings = settings
    let directory = Guarded(kind.hasFiles ? try TestDirectory() : nil)
    _directory = directory
    let description: NSPersistentStoreDescription
    do {
      let place = directory.withLock { $0?.url } ?? URL(fileURLWithPath: "/dev/null")
      description = try kind.makeDescription(place)
      container = try Self._open(description, model, settings, statements)
    } catch {
      directory.withLock { $0 }?.remove()
      throw error
    }
    _descriptions.withLock { $0.append(Description(description: description)) }
    _note(container)
  }

  private static func _open(
    _ description: NSPersistentStoreDescription, _ model: NSManagedObjectModel, _ settings: TestStoreSettings,
    _ statements: StatementCount
  ) throws -> NSPersistentContainer {
    let container =
      settings.makeContainer?(model) ?? TestContainer.make(name: settings.name, managedObjectModel: model)
    description.shouldAddStoreAsynchronously = false
    statements.attach(to: description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = failure ?? $1 }
    if let failure {
      throw TestStoreError("The test's store (\(settings.kind)) cannot be opened: \(failure)")
    }
    return container
  }

  private func _note(_ container: NSPersistentContainer) {
    _containers.withLock { $0.append(WeakContainer(container: container)) }
  }

  /// The main-queue context of the container.
  public var viewContext: NSManagedObjectContext { container.viewContext }

  /// The coordinator of the container.
  public var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  /// The model.
  public var model: NSManagedObjectModel { container.managedObjectModel }

  /// Makes a private-queue context on the coordinator. The test's end waits for the blocks that it has been given.
  public func newBackgroundContext() -> NSManagedObjectContext {
    let context = container.newBackgroundContext()
    _contexts.withLock { contexts in
      contexts.removeAll { $0.context == nil }
      contexts.append(WeakContext(context: context))
    }
    return context
  }

  /// Describes another store of the same kind, for a stack that the program makes itself. The test's end removes
  /// it; close the stack before.
  public func makeDescription() throws -> NSPersistentStoreDescription {
    let description = try kind.makeDescription(
      kind.hasFiles ? testDirectory().subdirectory("store") : URL(fileURLWithPath: "/dev/null"))
    _descriptions.withLock { $0.append(Description(description: description)) }
    return description
  }

  /// Opens the same store once more, as a second process does.
  ///
  /// - Returns: A container with a coordinator of its own, which the test's end closes.
  /// - Throws: `TestStoreError` for a store in memory, which only its container sees.
  public func reopen() throws -> NSPersistentContainer {
    guard kind.hasFiles, let first = _descriptions.withLock({ $0.first }) else {
      throw TestStoreError(
        "A store of kind '\(kind)' is seen by its container only. Use a kind with files, such as .sqliteFile."
      )
    }
    let copy = first.description.copy() as! NSPersistentStoreDescription
    let opened = try Self._open(copy, model, _settings, statements)
    _note(opened)
    return opened
  }

  /// The test's directory, which is removed at the test's end.
  public func directory() throws -> URL { try testDirectory().url }

  func testDirectory() throws -> TestDirectory {
    try _directory.withLock { directory in
      if let directory { return directory }
      let made = try TestDirectory()
      directory = made
      return made
    }
  }

  /// Another store of the test, with a container that is open already.
  init(_ container: NSPersistentContainer, of store: TestStore) {
    self.container = container
    (kind, report, test, _settings, _directory, _contexts) = (
      store.kind, store.report, store.test, store._settings, store._directory, store._contexts
    )
    store._note(container)
  }

  /// Ends the test: waits for the blocks of background contexts, closes the stores and removes them, and records
  /// what has failed.
  func end() {
    for context in _openContexts { context.performAndWait {} }
    for container in _openContainers {
      let coordinator = container.persistentStoreCoordinator
      for store in coordinator.persistentStores { _try("closed") { try coordinator.remove(store) } }
    }
    for description in _descriptions.withLock({ $0 }) {
      _try("removed") { try kind.discard(description.description) }
    }
    _directory.withLock { $0 }?.remove()
    report.end()
  }

  private func _try(_ what: String, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      fail("The test's store (\(kind)) could not be \(what): \(error)")
    }
  }

  /// Ends the test once the contexts have run the blocks that they were given.
  func endAfterBlocks() async {
    for context in _openContexts { await context.turn() }
    for container in _openContainers { await container.viewContext.turn() }
    end()
  }

  private var _openContexts: [NSManagedObjectContext] { _contexts.withLock { $0 }.compactMap(\.context) }

  private var _openContainers: [NSPersistentContainer] { _containers.withLock { $0 }.compactMap(\.container) }

  /// Checks that the calling thread may use a context.
  ///
  /// - Throws: `TestStoreError` for a main-queue context on another thread, where most tests run.
  func checkThread(_ context: NSManagedObjectContext) throws {
    guard context.concurrencyType == .mainQueueConcurrencyType, !MainQueue.isCurrent else { return }
    throw TestStoreError(
      "The view context belongs to the main thread, and this test runs on another one. Mark the test or its suite with "
        + "@MainActor, or use store.newBackgroundContext() inside its perform.")
  }
}
