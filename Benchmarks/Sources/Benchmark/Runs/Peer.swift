import Foundation

/// Another implementation that does some of the works, as a program that `Scripts/benchmark --peers` has prepared.
struct Peer {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// What the program says, as JSON.
  private struct Answer: Codable {
    var seconds: Double
    var peak_mb: Double
    var rows: Int
    var sum: Int64
    /// The file or database that it worked on.
    var file: String
    var version: String
  }

  let name: String
  private let _program: String
  private let _works: Set<String>

  /// The programs in a directory, by name.
  static func all(in directory: String) throws -> [Peer] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { name in
      let program = "\(directory)/\(name)"
      let works = try _output(program, ["works"]).trimmingCharacters(in: .whitespacesAndNewlines)
      return Peer(name: name, _program: program, _works: Set(works.components(separatedBy: ",")))
    }
  }

  func does(_ work: Work) -> Bool { _works.contains(work.rawValue) }

  /// Does a work in a process of its own.
  ///
  /// - Parameters:
  ///   - directory: Where the program may make files; it keeps its store with all stops there.
  ///   - server: The server on which its stores are databases instead.
  func run(_ work: Work, objects: Int, directory: String, server: String?) throws -> (
    measurement: Measurement, version: String
  ) {
    let arguments = [work.rawValue, String(objects), directory] + (server.map { [$0] } ?? [])
    let text = try Self._output(_program, arguments)
    guard let line = text.split(separator: "\n").last,
      let answer = try? JSONDecoder().decode(Answer.self, from: Data(line.utf8))
    else { throw Failure(description: "\(name) did not say what '\(work.rawValue)' took, but: \(text)") }
    var measurement = Measurement()
    measurement.seconds = [answer.seconds]
    measurement.peakMegabytes = answer.peak_mb
    measurement.check = Check(rows: answer.rows, sum: answer.sum)
    if work.leavesImport, let server {
      #if POSTGRESQL
      measurement.check = try PostgreSQLRun.imported(by: answer.file, server)
      #endif
    } else if work.leavesImport {
      let found = try Database(path: answer.file).digest(FloorStore.digestQuery)
      measurement.check = Check(rows: found.rows, digest: found.digest)
    }
    return (measurement, answer.version)
  }

  private static func _output(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(
        description: "'\(program) \(arguments.joined(separator: " "))' failed with status "
          + "\(process.terminationStatus); see above.")
    }
    return String(decoding: said, as: UTF8.self)
  }
}
