import Foundation

// Reading one state of the stores, whatever others write meanwhile.

extension NSManagedObjectContext {
  /// Token of the state that the context reads; nil when it reads the latest, and always nil for a child
  /// context, which reads what its parent does.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    if _parent != nil { return nil }
    return generationPin.generation.map { NSQueryGenerationToken($0) }
  }

  /// Pins the context to a state of the stores: from now on it reads that state, and not what others save.
  ///
  /// `NSQueryGenerationToken.current` takes the state at the context's next read, another context's token the
  /// state that the other reads, and nil ends it. Objects read before keep their values; refresh or fetch
  /// them. The context moves on to the latest state when it saves, merges changes, or is reset.
  ///
  /// Needs SQLite stores with a write-ahead log, as they are by default; of any other store the latest state
  /// is read, and a context whose stores are all such stays unpinned. Stores added later are not read until
  /// the context moves on.
  ///
  /// A pinned state costs a connection to each store and holds a read transaction open there: as long as it
  /// lasts, SQLite cannot empty the write-ahead log into the file, and the log grows with everything that is
  /// written. Let tokens go, or pin to the current state again, from time to time.
  ///
  /// Traps for a child context, as Core Data raises.
  ///
  /// - Throws: A Cocoa error when a store cannot be read, or for the token of another coordinator's context.
  public final func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
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

  /// The state that reads of this context see; nil for the latest.
  final var readGeneration: StoreGeneration? {
    var root = self
    while let parent = root._parent { root = parent }
    return root.generationPin.generation
  }

  /// A pinned context moves on to the latest state.
  final func advanceGeneration() {
    guard _parent == nil, generationPin.generation != nil, let coordinator = _coordinator else { return }
    do {
      generationPin.pin(to: try StoreGeneration(of: coordinator.persistentStores))
    } catch {
      // What has been saved or merged cannot be taken back for this.
      generationPin.pin(to: nil)
      Console.warn(
        "\(label) cannot be pinned to the latest state of its stores and reads what is latest from now on: \(error)"
      )
    }
  }
}
