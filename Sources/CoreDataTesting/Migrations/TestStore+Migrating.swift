import CoreData
import Foundation

extension TestStore {
  /// Migrates a copy of an old store to the model of the test, and opens it.
  ///
  /// The migration is what `loadPersistentStores` does: with a mapping model of the program's bundles if there is one, or
  /// an inferred one, and with staged migrations if the options ask for them.
  ///
  /// - Parameter options: Options of the store besides those that ask for a migration.
  /// - Returns: The migrated store, whose expectations are those of this test; closed at its end.
  /// - Throws: `TestStoreError` if the store cannot be migrated.
  public func migrate(_ old: OldStore, options: [String: NSObject] = [:]) throws -> TestStore {
    let copy = try old.copied(into: testDirectory().subdirectory("migrated"))
    let description = NSPersistentStoreDescription(url: copy)
    description.shouldAddStoreAsynchronously = false
    for (key, value) in options { description.setOption(value, forKey: key) }
    let migrated = TestContainer.make(name: old.name, managedObjectModel: model)
    migrated.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    migrated.loadPersistentStores { failure = failure ?? $1 }
    if let failure { throw TestStoreError("The old store '\(old.name)' cannot be migrated: \(failure)") }
    return TestStore(migrated, of: self)
  }

  /// Makes an old store of a version of the model, when no file of that time was kept.
  ///
  /// ```swift
  /// let old = try store.makeOldStore(with: ModelVersions("Library", in: .module)["Library"])
  /// let migrated = try store.migrate(old)
  /// ```
  ///
  /// - Parameters:
  ///   - version: The version.
  ///   - name: The file's name.
  ///   - fill: Makes its objects in a store of that version, on the calling thread; one object of each entity if it
  ///     is not given. What it leaves unsaved in the view context is saved.
  public func makeOldStore(
    with version: NSManagedObjectModel, named name: String = "Old",
    _ fill: ((TestStore) throws -> Void)? = nil
  ) throws -> OldStore {
    let url = try testDirectory().subdirectory("old").appendingPathComponent("\(name).sqlite")
    let container = TestContainer.make(name: name, managedObjectModel: version)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = failure ?? $1 }
    if let failure { throw TestStoreError("A store of the old version cannot be made: \(failure)") }
    let store = TestStore(container, of: self)
    if let fill {
      try fill(store)
      if store.viewContext.hasChanges { try store.viewContext.save() }
    } else {
      try store._makeOneOfEach()
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    return OldStore(url)
  }

  private func _makeOneOfEach() throws {
    let context = newBackgroundContext()
    try context.performAndWait {
      for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract
      {
        _ = try make(entity, in: context) { _ in }
      }
      try context.save()
    }
  }

  /// The number of saved rows of each entity that is not abstract, without those of its subentities.
  public func rowCounts() throws -> [String: Int] {
    let context = newBackgroundContext()
    return try context.performAndWait { try context.rowCounts(model) }
  }

  /// Expects numbers of saved rows.
  ///
  /// - Parameter counts: The rows of each entity, without those of its subentities. Entities that are not named may
  ///   have any number; an entity that the model does not have counts as empty.
  public func expectRows(
    _ counts: [String: Int], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    let place = TestPlace(fileID, filePath, line, column)
    do {
      let found = try rowCounts()
      let misses = counts.sorted { $0.key < $1.key }.compactMap { name, count in
        found[name] ?? 0 == count ? nil : "\(found[name] ?? 0) \(name), not \(count)"
      }
      if !misses.isEmpty { report.record("The store has \(misses.joined(separator: "; ")).", at: place) }
    } catch {
      report.record("The rows cannot be counted: \(error)", at: place)
    }
  }
}
