#if canImport(XCTest)
import CoreData
import Foundation
import XCTest

/// A test case of XCTest whose methods have a new store each.
///
/// ```swift
/// final class ShelfTests: CoreDataTestCase {
///   override class var storeSettings: TestStoreSettings {
///     TestStoreSettings(model: "Library", bundle: .module)
///   }
///
///   func testBookIsSaved() throws {
///     let book = try store.make(Book.self)
///     try store.viewContext.save()
///     XCTAssertFalse(book.hasChanges)
///   }
/// }
/// ```
///
/// A class that derives from another calls `openStore(_:)` instead.
open class CoreDataTestCase: XCTestCase {
  /// What the stores are made from. Override it; the base class has no model.
  open class var storeSettings: TestStoreSettings {
    TestStoreSettings(
      model: try { () throws -> NSManagedObjectModel in
        throw TestStoreError("'\(self)' does not override 'class var storeSettings', which names the model.")
      }())
  }

  private var _store: TestStore?

  /// The store of the method that runs. Traps outside of one.
  public var store: TestStore {
    guard let _store else { preconditionFailure("There is a store only while a test method runs.") }
    return _store
  }

  /// Runs the method with its store.
  open override func invokeTest() {
    do {
      try TestStore.scope(Self.storeSettings, .xcTest, of: name) { store in
        _store = store
        defer { _store = nil }
        super.invokeTest()
      }
    } catch {
      XCTFail("\(error)")
    }
  }
}

extension XCTestCase {
  /// Opens a store for the test that runs; the test's teardown closes and removes it. Call it in `setUp` or in the
  /// test, on its thread.
  ///
  /// ```swift
  /// final class ShelfTests: AppTestCase {
  ///   private var store: TestStore!
  ///
  ///   override func setUpWithError() throws {
  ///     store = try openStore(TestStoreSettings(model: "Library", bundle: .module))
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: `TestStoreError` if it cannot be opened.
  public func openStore(_ settings: TestStoreSettings) throws -> TestStore {
    let store = try TestStore(settings, FailureReport(.xcTest, of: name), of: name)
    addTeardownBlock { store.end() }
    return store
  }
}
#endif
