import SwiftDataExpansion

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// The program that the compiler runs to expand SwiftData's macros, over standard input and output.
@main struct Plugin {
  static func main() {
    // A failed write reveals that the compiler has exited.
    signal(SIGPIPE, SIG_IGN)
    let channel = MessageChannel(
      read: { buffer in try _retrying { read(STDIN_FILENO, buffer.baseAddress, buffer.count) } },
      write: { buffer in try _retrying { write(STDOUT_FILENO, buffer.baseAddress, buffer.count) } })
    do {
      try PluginServer(channel: channel, log: _log).run()
    } catch {
      _log("\(error)")
      exit(1)
    }
  }

  private static func _retrying(_ call: () -> Int) throws -> Int {
    while true {
      let count = call()
      if count >= 0 { return count }
      if errno != EINTR { throw Failure(number: errno) }
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    let number: Int32

    var description: String {
      "the compiler's messages cannot be read or answered: \(String(cString: strerror(number)))"
    }
  }

  private static func _log(_ line: String) {
    let bytes = Array("SwiftDataMacros: \(line)\n".utf8)
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
