/// The design to choose after a result, with the reason: main's frames first, then the total, then simplicity.
///
/// Totals that the runs do not tell apart are equal.
struct Recommendation {
  private let _stacks: [ShootoutResult.Stack]
  private let _runs: Int

  /// Totals within this share are equal, however alike the runs are.
  private static let _leastNoise = 0.05

  init(_ result: ShootoutResult) {
    _stacks = result.stacks
    _runs = result.workload.runs
  }

  /// How many contexts, saves and merges a program has to think of: fewer first.
  private static let _bySimplicity: [StackDesign] = [.main, .nested2, .shared, .nested3, .sharedStore]

  /// The design; nil if there are fewer than two to choose from.
  var choice: StackDesign? { _chosen?.design }

  /// The recommendation; nil if there are fewer than two designs to choose from.
  var sentence: String? {
    guard let chosen = _chosen else { return nil }
    let smooth = _smooth, best = _best(of: smooth)
    let left = _stacks.count - smooth.count
    var reasons: [String] = []
    if !smooth.contains(where: { $0.longestWait <= ShootoutResult.frameMilliseconds }) {
      reasons.append(
        "none keeps main within a frame, and it blocks main least, for \(Figures.milliseconds(chosen.longestWait)) ms at once"
      )
    } else if left > 0 {
      reasons.append(
        "it never blocks main for a frame, as \(left == 1 ? "one" : "\(left)") of the others \(left == 1 ? "does" : "do")"
      )
    } else {
      reasons.append("no design blocks main for a frame")
    }
    if smooth.count > 1 {
      if best.count == 1 {
        reasons.append("it is the fastest of those")
      } else {
        let others = best.filter { $0.design != chosen.design }.map(\.design.rawValue).joined(separator: ", ")
        reasons.append("of those as fast (also \(others)) it is the simplest")
      }
    }
    return "Choose \(chosen.design.rawValue): " + reasons.joined(separator: "; ") + "."
  }

  /// Those that keep main within a frame, or if none does, those that block it least.
  private var _smooth: [ShootoutResult.Stack] {
    let within = _stacks.filter { $0.longestWait <= ShootoutResult.frameMilliseconds }
    if !within.isEmpty { return within }
    let least = _stacks.map(\.longestWait).min() ?? 0
    return _stacks.filter { $0.longestWait <= least * 1.2 }
  }

  /// Those whose totals cannot be told from the fastest.
  private func _best(of stacks: [ShootoutResult.Stack]) -> [ShootoutResult.Stack] {
    guard let fastest = stacks.min(by: { $0.totalSeconds < $1.totalSeconds }) else { return [] }
    return stacks.filter { stack in
      // Two standard errors of a median, of both.
      let error =
        2 * 1.25 * (stack.ratioDeviation + fastest.ratioDeviation) / 2 / Double(max(1, _runs)).squareRoot()
      return stack.totalSeconds <= fastest.totalSeconds * (1 + max(Self._leastNoise, min(error, 0.5)))
    }
  }

  private var _chosen: ShootoutResult.Stack? {
    guard _stacks.count > 1 else { return nil }
    func rank(_ stack: ShootoutResult.Stack) -> Int {
      Self._bySimplicity.firstIndex(of: stack.design) ?? .max
    }
    return _best(of: _smooth).min { rank($0) < rank($1) }
  }
}
