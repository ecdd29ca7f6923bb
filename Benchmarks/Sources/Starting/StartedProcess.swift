import Foundation

/// A process that has started, said so, and was looked at while it did nothing more.
struct StartedProcess {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// What the process says it waited for its first rows.
  let milliseconds: Double
  /// What it found, to be compared.
  let check: String
  /// Its own memory, in megabytes of 1,000,000 bytes.
  let ownMegabytes: Double
  /// The pages of files that it has mapped and read, code above all, which processes share.
  let mappedMegabytes: Double

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
    let status =
      (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)) ?? ""
    ownMegabytes = Self._megabytes("RssAnon:", in: status)
    mappedMegabytes = Self._megabytes("RssFile:", in: status)
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    guard process.terminationStatus == 0, !words.isEmpty else {
      throw Failure(
        description: "'\(program.lastPathComponent) \(arguments.joined(separator: " "))' failed with status "
          + "\(process.terminationStatus).")
    }
    (milliseconds, check) = words.count == 2 ? (Double(words[0]) ?? 0, String(words[1])) : (0, "")
  }

  private static func _megabytes(_ field: String, in status: String) -> Double {
    let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
    let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
    return (kilobytes.flatMap { Double($0) } ?? 0) * 1024 / 1e6
  }
}
