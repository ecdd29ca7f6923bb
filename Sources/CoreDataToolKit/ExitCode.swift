/// The exit status of a run. The numbers are those of BSD's `sysexits.h`, and for a closed pipe the one that
/// a shell assigns to a process ended by SIGPIPE.
package enum ExitCode: Int32, Sendable, CaseIterable {
  case success = 0
  case usage = 64
  case badInput = 65
  case noInput = 66
  case internalError = 70
  case cannotCreateOutput = 73
  case temporaryFailure = 75
  case closedPipe = 141

  /// The meaning of the code, for help texts.
  package var meaning: String {
    switch self {
    case .success: "success"
    case .usage: "the command line is invalid"
    case .badInput: "an input exists but cannot be used"
    case .noInput: "an input does not exist or cannot be read"
    case .internalError: "the tool failed, or its results did not pass their checks"
    case .cannotCreateOutput: "an output cannot be written"
    case .temporaryFailure: "another process has locked an input; try again"
    case .closedPipe: "the reader of the output has closed the pipe"
    }
  }
}
