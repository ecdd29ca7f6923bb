import Foundation

// Pinning a context to a state of the stores.

extension NSManagedObjectContext {
  final var generationRead: NSQueryGenerationToken? {
    if _parent != nil { return nil }
    return generationPin.generation.map { NSQueryGenerationToken($0) }
  }

  final func pin(to generation: NSQueryGenerationToken?) throws {
    checkQueue()
    if _parent != nil {
      programmerError(
        "\(label) is a child and reads what its parent does; set the query generation of the context at the root."
      )
    }
    guard let generation else { return generationPin.pin(to: nil) }
    guard let coordinator = _coordinator else {
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has no coordinator, so there is no state of stores to read.")
    }
    if let given = generation.generation {
      guard coordinator.persistentStores.contains(where: { given.pins($0.key) }) else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "\(generation) is of no store that \(label) reads; take the token of a context of the same coordinator."
        )
      }
      generationPin.pin(to: given)
    } else {
      generationPin.pin(to: try StoreGeneration(of: coordinator.persistentStores))
    }
  }

  /// The state from which this context reads; nil for the latest.
  final var readGeneration: StoreGeneration? {
    var root = self
    while let parent = root._parent { root = parent }
    return root.generationPin.generation
  }

  /// Advances a pinned context to the latest state.
  final func advanceGeneration() {
    guard _parent == nil, generationPin.generation != nil, let coordinator = _coordinator else { return }
    do {
      generationPin.pin(to: try StoreGeneration(of: coordinator.persistentStores))
    } catch {
      // The save or merge is done; a failure to pin must not fail it.
      generationPin.pin(to: nil)
      Console.warn(
        "\(label) cannot be pinned to the latest state of its stores and reads what is latest from now on: \(error)"
      )
    }
  }
}
