import Foundation

/// A process that has started, said so, and was looked at while it did nothing more.
struct StartedProcess {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// What the process says it waited for its first rows.
  let milliseconds: Double
  /// What it found, to be compared.
  let check: String
  /// Memory that it holds, in megabytes of 1,000,000 bytes.
  let residentMegabytes: Double

  init(_ program: URL, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let words = said.split(separator: "\n").first?.split(separator: " ") ?? []
    residentMegabytes = Self._resident(process.processIdentifier)
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    guard process.terminationStatus == 0, !words.isEmpty else {
      throw Failure(
        description: "'\(program.lastPathComponent) \(arguments.joined(separator: " "))' failed with status "
          + "\(process.terminationStatus).")
    }
    (milliseconds, check) = words.count == 2 ? (Double(words[0]) ?? 0, String(words[1])) : (0, "")
  }

  private static func _resident(_ process: Int32) -> Double {
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    return (kilobytes.flatMap { Double($0) } ?? 0) * 1024 / 1e6
  }
}
