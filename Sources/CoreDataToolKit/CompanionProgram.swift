import Foundation
import Synchronization

/// A companion program of this package, for features that need a library which this program does not link.
package struct CompanionProgram: Sendable {
  package let name: String
  /// The library it needs, and the library's Debian package.
  private let _library: String
  private let _package: String

  package static let explorer = CompanionProgram(
    "coredata-explorer", library: "libmicrohttpd", package: "libmicrohttpd-dev")
  package static let postgreSQL = CompanionProgram(
    "coredata-postgresql", library: "libpq", package: "libpq-dev")

  /// Whether this program has the commands of its companions. Set before the first command runs.
  private static let _isThisProgram = Atomic(false)

  /// Tells that this program has the commands of its companions, and starts itself instead of them.
  package static func areInThisProgram() { _isThisProgram.store(true, ordering: .releasing) }

  private init(_ name: String, library: String, package: String) {
    self.name = name
    _library = library
    _package = package
  }

  /// Path of the program: beside this one, or on the search path.
  ///
  /// - Throws: `ToolFailure` with installation instructions.
  package func path(_ searchPath: String?) throws(ToolFailure) -> String {
    let own = Self._ownPath
    if Self._isThisProgram.load(ordering: .acquiring) {
      guard let own else {
        throw ToolFailure(
          .internalError,
          "This program cannot start itself: there is no /proc/self/exe. Mount /proc: mount -t proc proc /proc."
        )
      }
      return own
    }
    var directories = (searchPath ?? "").split(separator: ":").map(String.init)
    if let own {
      directories.insert((own as NSString).deletingLastPathComponent, at: 0)
    }
    let paths: [String] = directories.map { "\($0)/\(name)" }
    if let path = paths.first(where: { access($0, X_OK) == 0 }) { return path }
    throw ToolFailure(
      .noInput,
      "There is no program '\(name)' beside 'coredata' or on the PATH. Build it, which needs \(_library) (Debian: "
        + "\(_package)), with 'swift build -c release --product \(name)', and put it beside 'coredata'.")
  }

  private static var _ownPath: String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
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
