import CoreData
import Foundation

/// What the store of a test is made from: a model, a kind of store, and how a container is made.
///
/// ```swift
/// let settings = TestStoreSettings(model: "Library", bundle: .module, in: .sqliteFile) { model in
///   LibraryContainer(name: "Library", managedObjectModel: model)
/// }
/// ```
public struct TestStoreSettings: Sendable {
  let name: String
  let makeModel: @Sendable () throws -> NSManagedObjectModel
  let kind: TestStoreKind
  let makeContainer: (@Sendable (NSManagedObjectModel) -> NSPersistentContainer)?

  /// Settings with a model of a bundle, which is loaded once in a process.
  ///
  /// - Parameters:
  ///   - name: The name of the `.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`, without it.
  ///   - bundle: The bundle with the model: `.module` for a model among the resources of the test's target.
  ///   - kind: Where the store is.
  ///   - container: Makes the container, if it is one of your own class; the store is added to it.
  public init(
    model name: String, bundle: Bundle = .main, in kind: TestStoreKind = .sqliteInMemory,
    container: (@Sendable (NSManagedObjectModel) -> NSPersistentContainer)? = nil
  ) {
    self.init(
      name, { try ModelShelf.model(named: name, in: bundle) }, kind, container)
  }

  /// Settings with a model that the program has.
  ///
  /// - Parameters:
  ///   - model: The model; evaluated for each test.
  ///   - kind: Where the store is.
  ///   - container: Makes the container, if it is one of your own class; the store is added to it.
  public init(
    model: @escaping @Sendable @autoclosure () throws -> NSManagedObjectModel,
    in kind: TestStoreKind = .sqliteInMemory,
    container: (@Sendable (NSManagedObjectModel) -> NSPersistentContainer)? = nil
  ) {
    self.init("TestStore", model, kind, container)
  }

  private init(
    _ name: String, _ makeModel: @escaping @Sendable () throws -> NSManagedObjectModel, _ kind: TestStoreKind,
    _ makeContainer: (@Sendable (NSManagedObjectModel) -> NSPersistentContainer)?
  ) {
    (self.name, self.makeModel, self.kind, self.makeContainer) = (name, makeModel, kind, makeContainer)
  }

  /// The same settings with another kind of store.
  public func `in`(_ kind: TestStoreKind) -> TestStoreSettings {
    TestStoreSettings(name, makeModel, kind, makeContainer)
  }
}
