import Dispatch

/// Runs an actor's jobs one at a time on a queue of the context's own, never on the main thread.
public class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  // Unchecked: immutable; the context is used by the jobs, which run one at a time.

  /// The context, which is the actor's from here on.
  public let modelContext: ModelContext
  private let _queue = DispatchQueue(label: "SwiftData.ModelActor")

  /// Creates an executor for a context that nothing else uses.
  ///
  /// A context made on the main thread stops saving by itself: it isn't used there.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    modelContext.handToActor()
  }

  /// Runs a job in turn.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    _queue.async { job.runSynchronously(on: executor) }
  }

  /// The executor as the runtime asks for it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Stops if the calling code doesn't run on the actor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(_queue)) }
}
