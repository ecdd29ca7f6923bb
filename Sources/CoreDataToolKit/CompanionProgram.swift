import Foundation

/// A program of the package beside this one, for what needs a library that this one is built without.
package struct CompanionProgram: Sendable {
  package let name: String
  /// The library that it needs, and the Debian package of it.
  private let _library: String
  private let _package: String

  package static let explorer = CompanionProgram(
    "coredata-explorer", library: "libmicrohttpd", package: "libmicrohttpd-dev")
  package static let postgreSQL = CompanionProgram(
    "coredata-postgresql", library: "libpq", package: "libpq-dev")

  private init(_ name: String, library: String, package: String) {
    self.name = name
    _library = library
    _package = package
  }

  /// Where the program is: beside this one, or on the search path.
  ///
  /// - Throws: `ToolFailure` that says how to come by it.
  package func path(_ searchPath: String?) throws(ToolFailure) -> String {
    var directories = (searchPath ?? "").split(separator: ":").map(String.init)
    if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      directories.insert((own as NSString).deletingLastPathComponent, at: 0)
    }
    let paths: [String] = directories.map { "\($0)/\(name)" }
    if let path = paths.first(where: { access($0, X_OK) == 0 }) { return path }
    throw ToolFailure(
      .noInput,
      "There is no program '\(name)' beside 'coredata' or on the PATH. Build it, which needs \(_library) (Debian: "
        + "\(_package)), with 'swift build -c release --product \(name)', and put it beside 'coredata'.")
  }

  /// Replaces this process with the program, called with these arguments.
  package func exec(_ words: [String], _ environment: ToolEnvironment) throws(ToolFailure) -> Never {
    let program = try path(environment.variables["PATH"])
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) }
    arguments.append(nil)
    // Returns only on failure.
    execv(program, arguments)
    throw ToolFailure(.internalError, "'\(program)' cannot be started: \(String(cString: strerror(errno))).")
  }
}
