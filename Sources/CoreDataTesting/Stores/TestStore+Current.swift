import CoreData

extension TestStore {
  @TaskLocal static var scoped: TestStore?

  /// The store of the test that is running.
  ///
  /// Known in the test's task and its child tasks, not on the queues of contexts: keep it in a constant that their
  /// blocks capture.
  ///
  /// - Throws: `TestStoreError` for a test without the trait `coreData` that is no method of a `CoreDataTestCase`
  ///   either.
  public static var current: TestStore {
    get throws {
      if let scoped { return scoped }
      throw TestStoreError(
        "The test has no store. Give the test or its suite the trait .coreData(…), derive the class from CoreDataTestCase, or "
          + "call withTestStore(_:_:); on the queue of a context use the constant in which you keep the store."
      )
    }
  }

  fileprivate static func _framework() throws -> TestFramework {
    if let framework = TestFramework.current { return framework }
    throw TestStoreError(
      "No test is known to run here that could take the failures of a test store. Call withTestStore in the test itself and "
        + "not on the queue of a context; in a class that derives from XCTestCase directly, call openStore(_:)."
    )
  }

  /// Opens a store for a test, makes it the current one, and ends it.
  static func scope<Result>(
    _ settings: TestStoreSettings, _ framework: TestFramework, of test: String,
    isolation: isolated (any Actor)? = #isolation, _ body: (TestStore) async throws -> Result
  ) async throws -> Result {
    let store = try TestStore(settings, FailureReport(framework, of: test), of: test)
    do {
      let result = try await $scoped.withValue(store) { try await body(store) }
      await store.endAfterBlocks()
      return result
    } catch {
      await store.endAfterBlocks()
      throw error
    }
  }

  /// The same for a body that does not wait.
  static func scope<Result>(
    _ settings: TestStoreSettings, _ framework: TestFramework, of test: String,
    now body: (TestStore) throws -> Result
  ) throws -> Result {
    let store = try TestStore(settings, FailureReport(framework, of: test), of: test)
    defer { store.end() }
    return try $scoped.withValue(store) { try body(store) }
  }
}

/// Runs a part of a test with a store of its own, which is then closed and removed. For tests without the trait or
/// the class, and for a test's second store.
///
/// ```swift
/// @MainActor @Test(arguments: [TestStoreKind.sqliteInMemory, .inMemory])
/// func `A title is kept`(kind: TestStoreKind) throws {
///   try withTestStore(TestStoreSettings(model: "Library", bundle: .module, in: kind)) { store in
///     let book = try store.make(Book.self) { $0.title = "Emma" }
///     try store.viewContext.save()
///     store.expect(book.title == "Emma")
///   }
/// }
/// ```
///
/// - Throws: `TestStoreError` if the store cannot be opened or no test is running, and what `body` throws.
public func withTestStore<Result>(
  _ settings: TestStoreSettings, test: String = #function, isolation: isolated (any Actor)? = #isolation,
  _ body: (TestStore) async throws -> Result
) async throws -> Result {
  try await TestStore.scope(settings, TestStore._framework(), of: test, body)
}

/// Runs a part of a test that does not wait with a store of its own, which is then closed and removed.
///
/// - Throws: `TestStoreError` if the store cannot be opened or no test is running, and what `body` throws.
public func withTestStore<Result>(
  _ settings: TestStoreSettings, test: String = #function, _ body: (TestStore) throws -> Result
) throws -> Result {
  try TestStore.scope(settings, TestStore._framework(), of: test, now: body)
}
