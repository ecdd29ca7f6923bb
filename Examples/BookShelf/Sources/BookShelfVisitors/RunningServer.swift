import Foundation

/// The server as a child process, on a free port that it chooses.
final class RunningServer {
  let port: UInt16
  private let _process = Process()

  struct NoAnswer: Error {}

  /// Starts the server that lies beside this program, and waits until it listens.
  init(store: URL) throws {
    let output = Pipe()
    _process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent()
      .appendingPathComponent("BookShelfServer")
    _process.environment = ProcessInfo.processInfo.environment.merging(
      ["BOOKSHELF_PORT": "0", "BOOKSHELF_STORE": store.path]) { $1 }
    _process.standardOutput = output
    try _process.run()
    var line = Data()
    while line.last != 10 {
      let byte = output.fileHandleForReading.readData(ofLength: 1)
      guard !byte.isEmpty else { throw NoAnswer() }
      line += byte
    }
    let text = String(decoding: line, as: UTF8.self)
    guard let address = text.split(separator: " ").first(where: { $0.hasPrefix("http:") }),
      let number = address.split(separator: ":").last.flatMap({ UInt16($0.filter(\.isNumber)) })
    else { throw NoAnswer() }
    port = number
  }

  /// Terminates the server, as a container's host does.
  ///
  /// - Returns: Its exit code.
  func stop() -> Int32 {
    _process.terminate()
    _process.waitUntilExit()
    return _process.terminationStatus
  }
}
