import CoreData
import Foundation
import TestSupport
import Testing

/// Where the rows of a table of tests are stored, and how far the context that changes them is from there.
struct TablePlace: Sendable, CustomTestStringConvertible {
  enum Kind: String, CaseIterable, Sendable {
    /// A SQLite file, or a schema of a server if the tests run on one.
    case sql
    case memory, atomic, custom
  }

  let kind: Kind
  /// Whether the context is a child of one on the coordinator.
  let isNested: Bool

  static let all = Kind.allCases.flatMap { kind in [false, true].map { TablePlace(kind: kind, isNested: $0) }
  }

  var testDescription: String { isNested ? "nested over \(kind)" : kind.rawValue }

  /// Registers the custom stores.
  static let register: Void = {
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    NSPersistentStoreCoordinator.registerStoreClass(CardStore.self, forStoreType: CardStore.type)
  }()

  var type: String {
    switch kind {
    case .sql: TestDatabase.type
    case .memory: NSInMemoryStoreType
    case .atomic: CardStore.type
    case .custom: ShelfStore.type
    }
  }
}

/// A store in such a place with a context that changes it.
final class TableStack {
  let place: TablePlace
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  private let _root: NSManagedObjectContext
  private let _url: URL

  init(_ place: TablePlace, model: NSManagedObjectModel) throws {
    self.place = place
    TablePlace.register
    let file = try TemporaryPlace.makeDirectory().appendingPathComponent("Rows.store")
    _url = place.kind == .sql ? TestDatabase.place(file) : file
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: place.type, configurationName: nil, at: place.kind == .memory ? nil : _url,
      options: place.kind == .sql ? TestDatabase.options(nil) : nil)
    _root = coordinator.newContext()
    guard place.isNested else {
      context = _root
      return
    }
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.parent = _root
  }

  /// Saves the context and its parent. Call it on the context's queue.
  func save() throws {
    try context.save()
    if place.isNested { try _root.performAndWait { try _root.save() } }
  }

  /// Runs a block in a new context on the coordinator.
  func elsewhere<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
    let context = coordinator.newContext()
    return try context.performAndWait { try body(context) }
  }

  /// Runs a block in a context on another coordinator, which reads the store anew; one in memory is read as it is.
  func reopened<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    guard place.kind != .memory else { return try elsewhere(body) }
    let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    try other.addPersistentStore(
      ofType: place.type, configurationName: nil, at: _url,
      options: place.kind == .sql ? TestDatabase.options(nil) : nil)
    let context = other.newContext()
    defer { for store in other.persistentStores { try? other.remove(store) } }
    return try context.performAndWait { try body(context) }
  }
}
