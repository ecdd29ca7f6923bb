import Foundation

/// Stores on a PostgreSQL server, which commands read through a copy in an SQLite file.
///
/// `coredata-postgresql` makes the copy, so that other programs do not need libpq. It receives the URL on its
/// standard input, since the arguments of a process are visible to all users.
package enum ServerStore {
  /// Whether a path is a URL of such a store.
  package static func isURL(_ path: String) -> Bool {
    ["postgresql://", "postgres://"].contains { path.lowercased().hasPrefix($0) }
  }

  /// The URL without secrets, for messages.
  package static func name(_ url: String) -> String {
    guard var components = URLComponents(string: url) else {
      // A URL that cannot be parsed may contain a password anywhere.
      return "\(url.prefix { $0 != ":" })://…"
    }
    components.password = nil
    if let items = components.queryItems {
      components.queryItems = items.filter { !["password", "sslpassword"].contains($0.name) }
    }
    return components.string ?? "\(components.scheme ?? "postgresql")://…"
  }

  /// Creates a copy, and reports that on standard error.
  ///
  /// - Parameter keysPath: A file to be written with the primary keys of the copies; nil for none.
  /// - Throws: `ToolFailure`: `noInput` if `coredata-postgresql` is not installed, otherwise the program's
  ///   message.
  static func copy(_ url: String, to path: String, keysPath: String? = nil) throws(ToolFailure) {
    let environment = ToolEnvironment.process
    let program = try CompanionProgram.postgreSQL.path(environment.variables["PATH"])
    let name = Self.name(url)
    environment.error(
      "Reading a copy of '\(name)' as it is now: without history, with primary keys of its own.\n")
    let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
    let start = DispatchTime.now().uptimeNanoseconds
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + 1, repeating: 0.25)
    timer.setEventHandler {
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
      let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
      // The amount to copy is unknown; the bar only shows that the copy is in progress.
      progress.update(
        seconds.truncatingRemainder(dividingBy: 4) / 4,
        "copying, \(Int(seconds)) s, \(size / 1_000_000) MB written")
    }
    timer.activate()
    defer {
      timer.cancel()
      progress.finish()
    }
    let (status, said) = try _run(
      program, ["postgres", "copy", path] + (keysPath.map { ["--keys", $0] } ?? []), input: url)
    guard status != 0 else { return }
    var message = said.trimmingCharacters(in: .whitespacesAndNewlines)
    if message.hasPrefix("error: ") { message.removeFirst("error: ".count) }
    throw ToolFailure(
      ExitCode(rawValue: status) ?? .internalError,
      message.isEmpty ? "'\(program)' ended with status \(status) and no message." : message)
  }

  /// Runs a program; returns its status and its output on standard error.
  private static func _run(
    _ program: String, _ arguments: [String], input: String
  ) throws(ToolFailure) -> (status: Int32, said: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    let (output, error) = (Pipe(), Pipe())
    process.standardInput = output
    process.standardOutput = FileHandle.nullDevice
    process.standardError = error
    do {
      try process.run()
      try output.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try output.fileHandleForWriting.close()
    } catch {
      throw ToolFailure(.internalError, "'\(program)' cannot be started: \(error.localizedDescription)")
    }
    let said = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: said, as: UTF8.self))
  }
}
