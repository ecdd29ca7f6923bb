import Foundation

/// Counts the instructions that a process takes in user space: by `perf stat` where the machine counts them, otherwise by
/// callgrind.
///
/// Two counts of the same work differ by far less than two times do, and counting takes up to fifty times as long. The process hashes
/// alike each time: random seeds make the work before the counted one differ by more than that is.
package enum InstructionCounter {
  package struct Failure: Error, CustomStringConvertible { package let description: String }

  /// Whether this machine can count.
  package static var isAvailable: Bool { !_command.isEmpty }

  /// Runs a job in a separate process of this program and counts its instructions, from its start to its end.
  ///
  /// - Parameter what: Names the job in errors.
  package static func count<Measurement: Codable>(
    of job: some Encodable, _ what: String
  ) throws -> (measurement: Measurement, instructions: Double) {
    guard isAvailable else {
      throw Failure(
        description:
          "Neither 'perf stat' counts instructions here nor is 'valgrind' on the path; install valgrind.")
    }
    let said: (measurement: Measurement, errors: String) = try ChildProcess.measurement(
      of: job, what, with: ["env", "SWIFT_DETERMINISTIC_HASHING=1"] + _command)
    for line in said.errors.split(separator: "\n") {
      if let range = line.range(of: "Collected : "),
        let count = Double(line[range.upperBound...].split(separator: " ")[0])
      {
        return (said.measurement, count)
      }
      if line.contains("instructions"), let count = Double(line.split(separator: ",")[0]) {
        return (said.measurement, count)
      }
    }
    throw Failure(description: "'\(_command[0])' told no number of instructions.")
  }

  /// The command that counts; empty if there is none.
  private static let _command: [String] = {
    if let text = try? ChildProcess.start(["perf", "stat", "-x,", "-e", "instructions:u", "true"]).errors,
      let first = text.split(separator: "\n").first(where: { $0.contains("instructions") }),
      Double(first.split(separator: ",")[0]) != nil
    {
      return ["perf", "stat", "-x,", "-e", "instructions:u"]
    }
    guard (try? ChildProcess.start(["valgrind", "--version"]))?.status == 0 else { return [] }
    return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
  }()
}
