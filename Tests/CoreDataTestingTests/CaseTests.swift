import CoreData
import CoreDataTesting
import XCTest

final class CoreDataTestCaseTests: CoreDataTestCase {
  override class var storeSettings: TestStoreSettings {
    TestStoreSettings(model: "Library", bundle: .module)
  }

  func testEachMethodHasANewStore() throws {
    try store.make(Tag.self)
    try store.viewContext.save()
    XCTAssertEqual(try store.rowCounts()["Tag"], 1)
  }

  @MainActor func testTheStoreIsTheCurrentOneAlsoOfAsynchronousMethods() async throws {
    let current = try TestStore.current
    XCTAssertTrue(current === store)
    store.viewContext.automaticallyMergesChangesFromParent = true
    try await store.merged(into: store.viewContext) {
      let context = store.newBackgroundContext()
      try await context.perform {
        Tag(context: context).name = "novel"
        try context.save()
      }
    }
  }
}

/// As a class with a base class of the program's own uses the library.
final class OpenStoreTests: XCTestCase {
  private var _store: TestStore!

  override func setUpWithError() throws {
    _store = try openStore(TestStoreSettings(model: "Library", bundle: .module, in: .sqliteFile))
  }

  func testTheStoreIsOpen() throws {
    try _store.make(Book.self)
    try _store.viewContext.save()
    XCTAssertEqual(try _store.rowCounts()["Book"], 1)
  }
}

#if !canImport(Darwin)
import Testing

/// XCTest's record of a test case, which a test of Swift Testing runs: no observer of XCTest prints its failures.
@MainActor @Suite("Failures under XCTest") struct CaseFailureTests {
  final class Failing: CoreDataTestCase {
    override class var storeSettings: TestStoreSettings {
      TestStoreSettings(model: "Library", bundle: .module)
    }

    func failsOnAQueue() {
      let store = store
      let context = store.newBackgroundContext()
      context.performAndWait { store.expect(context.hasChanges) }
    }

    func failsOnAnotherThread() {
      let store = store
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        store.fail("elsewhere")
        done.signal()
      }
      done.wait()
    }

    func passes() throws { try store.make(Tag.self) }
  }

  final class Modelless: CoreDataTestCase {
    func passes() {}
  }

  private func _failures<Case: XCTestCase>(_ test: @escaping (Case) throws -> Void) -> Int? {
    let test = Case(name: "test") { try test($0 as! Case) }
    test.run()
    return test.testRun?.totalFailureCount
  }

  @Test func `An expectation on the queue of a context fails the test method`() {
    #expect(_failures { (test: Failing) in test.failsOnAQueue() } == 1)
    #expect(_failures { (test: Failing) in test.failsOnAnotherThread() } == 1)
    #expect(_failures { (test: Failing) in try test.passes() } == 0)
  }

  @Test func `A class that names no model fails`() {
    #expect(_failures { (test: Modelless) in test.passes() } == 1)
  }
}
#endif
