/// An actor with a model context of its own; `@ModelActor` makes one of an actor.
public protocol ModelActor: Actor {
  /// The container that the actor works on.
  nonisolated var modelContainer: ModelContainer { get }
  /// What runs the actor's jobs, and has its context.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The executor as the runtime asks for it.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      programmerError(
        "the executor of \(Self.self) has to be a SerialModelExecutor, as DefaultSerialModelExecutor is.")
    }
    return executor.asUnownedSerialExecutor()
  }

  /// The actor's context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model of an identity, of the context or the store; nil if there is none or it is of another class.
  public subscript<T>(id: PersistentIdentifier, as type: T.Type) -> T? where T: PersistentModel {
    modelContext.storedModel(for: id)
  }
}

/// Runs jobs where a model context is used.
public protocol ModelExecutor: Executor {
  /// The context.
  var modelContext: ModelContext { get }
}

/// Runs jobs where a model context is used, one at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
