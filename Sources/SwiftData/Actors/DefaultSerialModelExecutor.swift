import Dispatch

/// Runs an actor's jobs serially on a queue of the context, never on the main thread.
public class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Unchecked: immutable; only the jobs, which run serially, use the context.

  /// The context, used exclusively by the actor.
  public let modelContext: ModelContext
  private let _queue = DispatchQueue(label: "SwiftData.ModelActor")

  /// Creates an executor for a context that is not used elsewhere.
  ///
  /// Disables autosaving of a context created on the main thread, since it isn't used there.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    modelContext.handToActor()
  }

  /// Enqueues a job.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    _queue.async { job.runSynchronously(on: executor) }
  }

  /// Returns the executor in the form that the runtime requires.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps unless the calling code runs on the actor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(_queue)) }
}
