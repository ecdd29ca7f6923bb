import CoreData
import Foundation

// Removing a stack's store, permanently or for a new one.

extension ContextStack {
  /// Replaces the store with a new, empty one.
  ///
  /// Waits for running saves; unsaved changes are lost. The stack's own contexts remain and drop their
  /// objects, so that fetched results controllers must fetch again. Release existing worker contexts: their
  /// objects belong to a removed store. Do not save meanwhile.
  ///
  /// ```swift
  /// try await stack.emptyStore()  // a sign-out: the next user begins with nothing
  /// ```
  ///
  /// - Throws: Errors of destroying and adding stores.
  public func emptyStore() async throws { try await emptyStore(progress: nil) }

  public func emptyStore(progress: Progress?) async throws {
    let steps = ProgressSteps(progress, count: 2)
    try steps.begin()
    let removed = try await _removeStores()
    steps.finish()
    try await _inBackground { try removed.addAgain() }
    steps.finish()
  }

  /// Removes the store and destroys its files. The stack cannot be used afterwards.
  ///
  /// Waits for running saves; unsaved changes are lost.
  ///
  /// ```swift
  /// try await stack.removeStore()
  /// ```
  ///
  /// - Throws: Errors of destroying the store, which the stack then keeps.
  public func removeStore() async throws {
    let removed = try await _removeStores()
    try await _inBackground { try removed.deleteFiles() }
  }

  private func _removeStores() async throws -> RemovedStores {
    await waitUntilIdle()
    let coordinators = self.coordinators
    let removed = try await _inBackground { try RemovedStores(from: coordinators) }
    for context in keptContexts { await context.perform { context.reset() } }
    return removed
  }

  private func _inBackground<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Swift.Result { try work() }) }
    }
  }
}

/// Stores removed from their coordinators, with the information to add them again.
private struct RemovedStores: @unchecked Sendable {
  // Unchecked: descriptions and options are created here and not modified; coordinators may be used from any
  // thread.
  private struct Place {
    let coordinator: NSPersistentStoreCoordinator
    let type: String
    let configuration: String?
    let url: URL?
    let options: [AnyHashable: Any]?
  }

  private let _places: [Place]

  /// Removes all stores of some coordinators and destroys their files.
  ///
  /// - Throws: Errors of removing and destroying; the stores are then restored in their coordinators.
  init(from coordinators: [NSPersistentStoreCoordinator]) throws {
    var places: [Place] = []
    do {
      for coordinator in coordinators {
        for store in coordinator.persistentStores {
          let place = Place(
            coordinator: coordinator, type: store.type, configuration: store.configurationName,
            url: store.url, options: store.options)
          try coordinator.remove(store)
          places.append(place)
        }
      }
      var destroyed = Set<URL>()
      for place in places where place.type != NSInMemoryStoreType {
        // Two coordinators may share a file.
        guard let url = place.url, destroyed.insert(url).inserted else { continue }
        try place.coordinator.destroyPersistentStore(at: url, ofType: place.type, options: place.options)
      }
    } catch {
      try? Self._add(places)
      throw error
    }
    _places = places
  }

  func addAgain() throws { try Self._add(_places) }

  /// Deletes the empty files left after destroying the stores.
  func deleteFiles() throws {
    for url in Set(_places.lazy.filter { $0.type != NSInMemoryStoreType }.compactMap(\.url)) {
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
      try FileManager.default.removeItem(at: url)
    }
  }

  private static func _add(_ places: [Place]) throws {
    for place in places {
      _ = try place.coordinator.addPersistentStore(
        ofType: place.type, configurationName: place.configuration, at: place.url, options: place.options)
    }
  }
}
