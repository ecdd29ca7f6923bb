import CoreDataToolKit
import Foundation

/// The user's browser.
enum Browser {
  /// How long a browser has to read the file that leads to the address, in seconds.
  private static let _patience = 60

  /// Opens an address, or says on standard error why that is not possible. Does not wait for the browser.
  ///
  /// The address has the explorer's token, and other users see the arguments of processes, so the browser gets a file that
  /// only this user can read and that leads there. It is removed after a minute, or with the process.
  static func open(_ address: String, _ environment: ToolEnvironment) {
    let chosen = environment.variables["BROWSER"].flatMap { $0.isEmpty ? nil : $0 }
    let program = chosen ?? "xdg-open"
    let directories = (environment.variables["PATH"] ?? "").split(separator: ":").map { "\($0)/" }
    let paths = program.contains("/") ? [program] : directories.map { $0 + program }
    guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
      environment.error(
        "warning: there is no '\(program)' to open a browser with; set BROWSER, or open the address above.\n")
      return
    }
    guard let page = _page(leadingTo: address, environment) else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = [page]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      environment.error("warning: '\(path)' cannot be started: \(error.localizedDescription)\n")
    }
  }

  /// Writes the file; returns its path.
  private static func _page(leadingTo address: String, _ environment: ToolEnvironment) -> String? {
    let named = ["XDG_RUNTIME_DIR", "TMPDIR"].lazy.compactMap { environment.variables[$0] }.first {
      !$0.isEmpty
    }
    let path = "\(named ?? "/tmp")/coredata-explore-\(UUID().uuidString).html"
    let text = HTML.tag(
      "html", [:],
      .void("meta", ["charset": "utf-8"]),
      .void("meta", ["http-equiv": "refresh", "content": "0;url=\(address)"]),
      .tag("a", ["href": address], HTML("Open the store")))
    let error = UnfinishedPaths.shared.create(path) {
      let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { return errno }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try? file.write(contentsOf: Data("<!DOCTYPE html>\(text.markup)\n".utf8))
      return 0
    }
    let remove: @Sendable () -> Void = { UnfinishedPaths.shared.end(path) { _ = unlink(path) } }
    guard error == 0 else {
      remove()
      environment.error(
        "warning: '\(path)' cannot be written, through which the browser finds the address: "
          + "\(String(cString: strerror(error))). Open the address above.\n")
      return nil
    }
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(_patience), execute: remove)
    return path
  }
}
