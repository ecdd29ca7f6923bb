import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata explore`: runs `coredata-explorer`, a separate program, so that this one does not need its HTTP
  /// library.
  package static let explore = Command(ExploreSyntax.command) { _, environment in
    let words = Array(CommandLine.arguments.dropFirst())
    guard let program = ExplorerProgram.path(environment.variables["PATH"]) else {
      throw ToolFailure(
        .noInput,
        "There is no program 'coredata-explorer' beside 'coredata' or on the PATH. Build it, which needs libmicrohttpd (Debian: "
          + "libmicrohttpd-dev), with 'swift build -c release --product coredata-explorer', and put it beside 'coredata'."
      )
    }
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) }
    arguments.append(nil)
    // Replaces this process; it comes back only when that fails.
    execv(program, arguments)
    throw ToolFailure(.internalError, "'\(program)' cannot be started: \(String(cString: strerror(errno))).")
  }
}

/// Finds `coredata-explorer`.
enum ExplorerProgram {
  static func path(_ searchPath: String?) -> String? {
    var directories = (searchPath ?? "").split(separator: ":").map(String.init)
    if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
      directories.insert((own as NSString).deletingLastPathComponent, at: 0)
    }
    return directories.map { "\($0)/coredata-explorer" }.first { access($0, X_OK) == 0 }
  }
}
