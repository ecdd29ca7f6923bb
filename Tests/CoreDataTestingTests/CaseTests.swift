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
