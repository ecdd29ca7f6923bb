#if canImport(Testing)
import CoreData
import Foundation
import Testing

/// Gives each test a store of its own; see `Trait.coreData`.
public struct CoreDataTrait: SuiteTrait, TestTrait, TestScoping {
  let settings: TestStoreSettings

  /// Whether the tests of suites inside have stores, too: always.
  public var isRecursive: Bool { true }

  /// A scope for each case of a test, none for a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> CoreDataTrait? {
    testCase == nil ? nil : self
  }

  /// Runs a test with a new store as `TestStore.current`, and removes the store.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await TestStore.scope(settings, .swiftTesting, of: test.name) { _ in try await function() }
  }
}

extension Trait where Self == CoreDataTrait {
  /// Gives each test a new store with a model of a bundle; `TestStore.current` is the test's.
  ///
  /// ```swift
  /// @Suite(.coreData("Library", bundle: .module))
  /// struct ShelfTests {
  ///   let store: TestStore
  ///
  ///   init() throws { store = try TestStore.current }
  /// }
  /// ```
  ///
  /// Parallel tests never share a store. The model is loaded once in a process.
  ///
  /// - Parameters:
  ///   - name: The name of the model's file, without its extension.
  ///   - bundle: The bundle with the model: `.module` for a resource of the target.
  ///   - kind: Where the store is.
  public static func coreData(
    _ name: String, bundle: Bundle = .main, in kind: TestStoreKind = .sqliteInMemory
  ) -> CoreDataTrait {
    CoreDataTrait(settings: TestStoreSettings(model: name, bundle: bundle, in: kind))
  }

  /// Gives each test a new store with a model that the program has.
  ///
  /// - Parameters:
  ///   - model: The model; evaluated for each test.
  ///   - kind: Where the store is.
  public static func coreData(
    model: @escaping @Sendable @autoclosure () throws -> NSManagedObjectModel,
    in kind: TestStoreKind = .sqliteInMemory
  ) -> CoreDataTrait {
    CoreDataTrait(settings: TestStoreSettings(model: try model(), in: kind))
  }

  /// Gives each test a new store with these settings.
  public static func coreData(_ settings: TestStoreSettings) -> CoreDataTrait {
    CoreDataTrait(settings: settings)
  }
}
#endif
