import CoreDataToolKit
import Foundation

/// The child's side: does one job in a separate process and writes the result to standard output.
enum WorkerProcess {
  /// Does the job. Call it on the main thread, which serves the main queue meanwhile.
  static func run(
    jobArgument: String, place: any StorePlace,
    output: @escaping @Sendable (String) throws(ToolFailure) -> Void
  ) throws {
    guard let job = try? WorkerJob(argument: jobArgument) else {
      throw UsageError.unexpectedOperand("--worker", command: "coredata shootout")
    }
    _endWithParent()
    let say: @Sendable (WorkerMessage) -> Void = { message in
      guard let line = try? JSONEncoder().encode(message) else { return }
      // If this fails, the parent has exited; the watch ends the process.
      try? output(String(decoding: line, as: UTF8.self) + "\n")
    }
    let progress: @Sendable (Int) -> Void = { count in
      if job.reportsProgress { say(.progress(count)) }
    }
    do {
      let measurement =
        switch job.subject {
        case .floor: try FloorRun(job: job, place: place, progress: progress).measure()
        case .stack(let design):
          try StackRun(job: job, design: design, place: place, progress: progress).measure()
        }
      say(.finished(measurement))
    } catch {
      // Not the description of each object that a save has rejected.
      say(.failed((error as? CocoaError)?.debugText ?? String(describing: error)))
    }
  }

  /// Ends this process when the parent has exited for any reason, which closes its end of this process's
  /// standard input.
  private static func _endWithParent() {
    let thread = Thread {
      var byte: UInt8 = 0
      while true {
        let count = read(STDIN_FILENO, &byte, 1)
        if count == 0 { _exit(ExitCode.internalError.rawValue) }
        if count < 0 && errno != EINTR { return }
      }
    }
    thread.name = "parent watch"
    thread.start()
  }
}
