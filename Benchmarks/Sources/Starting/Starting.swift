import Foundation

/// Measures what a program waits for when it starts, and what it holds then: see `Scripts/benchmark start`.
///
/// Each start is a process of its own; the file is in the system's cache.
@main struct Starting {
  static func main() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.count == 3, words[0] == "--start", let side = Start.Side(rawValue: words[1]) {
      try Start(side: side, path: words[2]).run()
    } else if words.count == 2, let rounds = Int(words[0]), (1...1000).contains(rounds) {
      try _measure(rounds, in: words[1])
    } else {
      print("usage: Starting ROUNDS DIRECTORY")
      exit(64)
    }
  }

  private static func _measure(_ rounds: Int, in directory: String) throws {
    let path = "\(directory)/Shop.sqlite"
    try ShopStore.create(path)
    guard let program = Bundle.main.executableURL else { return }
    let empty = program.deletingLastPathComponent().appendingPathComponent("EmptyProgram")
    var starts: [Start.Side: [StartedProcess]] = [:]
    var idle: [StartedProcess] = []
    for round in 0..<rounds {
      for side in round.isMultiple(of: 2) ? Start.Side.allCases : Start.Side.allCases.reversed() {
        let found = try StartedProcess(program, ["--start", side.rawValue, path])
        starts[side, default: []].append(found)
      }
      idle.append(try StartedProcess(empty, []))
    }
    let (engine, floor) = (starts[.engine] ?? [], starts[.floor] ?? [])
    guard Set((engine + floor).map(\.check)).count == 1 else {
      print("error: the engine found \(engine[0].check) where SQLite found \(floor[0].check).")
      exit(70)
    }
    let model = try ShopStore.model()
    let properties = model.entities.reduce(0) { $0 + $1.properties.count }
    print("\(model.entities.count) entities with \(properties) properties, \(rounds) starts\n")
    print("                              first rows, ms      ±   own MB  mapped MB")
    _row("engine", engine)
    _row("SQLite, same file and query", floor)
    _row("empty program", idle)
    print(
      String(
        format: "\nThe engine's first rows come %.1f ms after SQLite's (at most 15);",
        engine.median(\.milliseconds) - floor.median(\.milliseconds)))
    func compare(_ what: String, _ figure: (StartedProcess) -> Double) {
      print(
        String(
          format: "it holds %.1f \(what), SQLite alone %.1f.", engine.median(figure) - idle.median(figure),
          floor.median(figure) - idle.median(figure)))
    }
    compare("MB of its own more than an empty program (at most 6)") { $0.ownMegabytes }
    compare("MB more of mapped files, which processes share") { $0.mappedMegabytes }
  }

  private static func _row(_ title: String, _ starts: [StartedProcess]) {
    let name = title.padding(toLength: 30, withPad: " ", startingAt: 0)
    let memory = String(
      format: "%9.1f%11.1f", starts.median(\.ownMegabytes), starts.median(\.mappedMegabytes))
    if starts.contains(where: { $0.milliseconds > 0 }) {
      let spread = Int(starts.spread(\.milliseconds) * 100)
      print(name + String(format: "%14.2f  %3d %%", starts.median(\.milliseconds), spread) + memory)
    } else {
      print(name + String(repeating: " ", count: 21) + memory)
    }
  }
}

extension [StartedProcess] {
  /// The figure in the middle.
  fileprivate func median(_ figure: (StartedProcess) -> Double) -> Double {
    let sorted = map(figure).sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }

  /// How far the middle half of a figure spreads, as a part of the median.
  fileprivate func spread(_ figure: (StartedProcess) -> Double) -> Double {
    let sorted = map(figure).sorted()
    guard sorted.count > 1, median(figure) > 0 else { return 0 }
    return (sorted[sorted.count * 3 / 4] - sorted[sorted.count / 4]) / median(figure)
  }
}
