import MainThreadWatch

/// The design to choose after a result, with the reason: main's frames first, then that it has time for other things, then
/// the total, then simplicity.
///
/// Totals that the runs do not tell apart are equal: each run's are compared with each other, since the machine was the same
/// for all of them.
struct Recommendation {
  private let _stacks: [ShootoutResult.Stack]

  /// Totals within this share are equal, however alike the runs are.
  private static let _leastNoise = 0.1

  init(_ result: ShootoutResult) { _stacks = result.stacks }

  /// How many contexts, saves and merges a program has to think of: fewer first.
  private static let _bySimplicity: [StackDesign] = [.main, .nested2, .shared, .nested3, .sharedStore]

  /// The design; nil if there are fewer than two to choose from.
  var choice: StackDesign? { _chosen?.design }

  /// The recommendation; nil if there are fewer than two designs to choose from.
  var sentence: String? {
    guard let chosen = _chosen else { return nil }
    let (within, free) = (_within, _free)
    let best = _best(of: free)
    var reasons: [String] = []
    if !within.contains(where: { $0.longestWait <= ShootoutResult.frameMilliseconds }) {
      reasons.append(
        "none keeps main within a frame, and it blocks main least, for \(Figures.milliseconds(chosen.longestWait)) ms at once"
      )
    } else if within.count < _stacks.count {
      reasons.append("it never blocks main for a frame, as \(Self._others(_stacks.count - within.count))")
    } else {
      reasons.append("no design blocks main for a frame")
    }
    if free.count < within.count {
      reasons.append(
        "it leaves main at least half of the time, which \(Self._others(within.count - free.count)) not")
    }
    if free.count > 1 {
      if best.count == 1 {
        reasons.append("it is the fastest of those")
      } else {
        let others = best.filter { $0.design != chosen.design }.map(\.design.rawValue).joined(separator: ", ")
        let doubt = _areUncertain(best) ? ", as far as these runs tell," : ""
        reasons.append("of those as fast (also \(others))\(doubt) it is the simplest")
      }
    }
    return "Choose \(chosen.design.rawValue): " + reasons.joined(separator: "; ") + "."
  }

  private static func _others(_ count: Int) -> String {
    count == 1 ? "one of the others does" : "\(count) of the others do"
  }

  /// Those that keep main within a frame, or if none does, those that block it least.
  private var _within: [ShootoutResult.Stack] {
    let within = _stacks.filter { $0.longestWait <= ShootoutResult.frameMilliseconds }
    if !within.isEmpty { return within }
    let least = _stacks.map(\.longestWait).min() ?? 0
    return _stacks.filter { $0.longestWait <= least * 1.2 }
  }

  /// Those of them that leave main at least half of the time, if any does.
  private var _free: [ShootoutResult.Stack] {
    let within = _within
    let free = within.filter { $0.mainBusySeconds <= $0.totalSeconds / 2 }
    return free.isEmpty ? within : free
  }

  /// Those whose totals cannot be told from the fastest.
  private func _best(of stacks: [ShootoutResult.Stack]) -> [ShootoutResult.Stack] {
    guard let fastest = stacks.min(by: { $0.totalSeconds < $1.totalSeconds }) else { return [] }
    return stacks.filter { stack in
      let ratios = Self._ratios(stack, fastest)
      // The standard error of a median, by Student's distribution for few runs.
      let error =
        Self._factor(ratios.count) * 1.25 * Statistics.relativeDeviation(ratios)
        / Double(max(1, ratios.count)).squareRoot()
      return Statistics.median(ratios) - 1 <= max(Self._leastNoise, min(error, 0.5))
    }
  }

  /// Whether some of them are equal only because the runs differ.
  private func _areUncertain(_ best: [ShootoutResult.Stack]) -> Bool {
    guard let fastest = best.min(by: { $0.totalSeconds < $1.totalSeconds }) else { return false }
    return best.contains { Statistics.median(Self._ratios($0, fastest)) - 1 > Self._leastNoise }
  }

  private static func _ratios(_ stack: ShootoutResult.Stack, _ fastest: ShootoutResult.Stack) -> [Double] {
    zip(stack.totals, fastest.totals).compactMap { $1 > 0 ? $0 / $1 : nil }
  }

  /// How many standard errors hold the true value nineteen times of twenty.
  private static func _factor(_ runs: Int) -> Double {
    let factors = [12.7, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]
    return runs < 2 ? 0 : runs - 2 < factors.count ? factors[runs - 2] : 2.1
  }

  private var _chosen: ShootoutResult.Stack? {
    guard _stacks.count > 1 else { return nil }
    func rank(_ stack: ShootoutResult.Stack) -> Int {
      Self._bySimplicity.firstIndex(of: stack.design) ?? .max
    }
    return _best(of: _free).min { rank($0) < rank($1) }
  }
}
