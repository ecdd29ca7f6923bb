/// An actor with a model context of its own, as declared with `@ModelActor`.
public protocol ModelActor: Actor {
  /// The actor's container.
  nonisolated var modelContainer: ModelContainer { get }
  /// Runs the actor's jobs and owns its context.
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  /// The executor in the form that the runtime requires.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      programmerError(
        "the executor of \(Self.self) has to be a SerialModelExecutor, as DefaultSerialModelExecutor is.")
    }
    return executor.asUnownedSerialExecutor()
  }

  /// The actor's context.
  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model with an identity, from the context or the store; nil if there is none or it is of another
  /// class.
  public subscript<T>(id: PersistentIdentifier, as type: T.Type) -> T? where T: PersistentModel {
    modelContext.storedModel(for: id)
  }
}

/// Runs jobs that use a model context.
public protocol ModelExecutor: Executor {
  /// The context.
  var modelContext: ModelContext { get }
}

/// Serially runs jobs that use a model context.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}
