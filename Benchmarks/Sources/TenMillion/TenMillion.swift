import Foundation

/// Measures a store of many rows, each work in a separate process, and prints a table in Markdown: see
/// `Scripts/ten-million`.
@main struct TenMillion {
  static func main() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 2, let rows = Int(words[0]), rows >= 1000 else {
      print("usage: TenMillion ROWS DIRECTORY")
      exit(64)
    }
    let store = URL(fileURLWithPath: words[1]).appendingPathComponent("Readings.sqlite")
    if words.count == 3 {
      let work = Work(rawValue: words[2])!
      let shelf = try ReadingStore(store, rows: rows)
      let clock = ContinuousClock()
      let begin = clock.now
      let found = try work.run(shelf)
      let seconds = (clock.now - begin) / .seconds(1)
      print(String(format: "%.4f\t%.0f\t%@", seconds, peakMegabytes, found))
      return
    }
    print("| work | seconds | peak memory | |\n| --- | --- | --- | --- |")
    for work in Work.allCases {
      let process = Process()
      let output = Pipe()
      process.executableURL = Bundle.main.executableURL
      process.arguments = words + [work.rawValue]
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      let fields = text.trimmingCharacters(in: .newlines).components(separatedBy: "\t")
      guard process.terminationStatus == 0, fields.count == 3 else {
        print("'\(work.rawValue)' failed.")
        exit(70)
      }
      print("| \(work.title(rows)) | \(shown(fields[0])) | \(fields[1]) MB | \(fields[2]) |")
    }
    for name in ["Readings.sqlite", "Readings.sqlite-wal"] {
      let path = store.deletingLastPathComponent().appendingPathComponent(name).path
      let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
      if size > 0 { print(String(format: "%@: %.2f GB", name, Double(size) / 1e9)) }
    }
  }

  /// Seconds with as many digits as their size deserves.
  private static func shown(_ text: String) -> String {
    let seconds = Double(text) ?? 0
    return String(format: seconds < 0.1 ? "%.4f" : seconds < 10 ? "%.2f" : "%.0f", seconds)
  }

  /// Most memory that the process held, in megabytes of 1,000,000 bytes.
  private static var peakMegabytes: Double {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) * 1024 / 1e6
  }
}
