import TestSupport

/// The steps of a soak, decided in advance, so that some can be left out and the others repeated.
struct SoakPlan: Sendable {
  /// A context's action in one step.
  enum Action: String, Sendable {
    case edit, save, rollback, merge
  }

  struct Step: Sendable {
    /// Index of the context.
    let context: Int
    let action: Action
    /// Determines the details of an edit.
    let seed: UInt64
    /// Numbers above this one name the objects that the step inserts, three at most.
    let serial: Int
  }

  /// Steps that end with all contexts saved and merged.
  struct Phase: Sendable {
    /// Whether one context works alone, and is compared with its parents after each step.
    let isSolo: Bool
    /// Determines the interleaving and the actions at the end.
    let seed: UInt64
    var steps: [Step]
  }

  var phases: [Phase]

  init(phases: [Phase]) { self.phases = phases }

  /// Plans about this many steps, including those at the ends of phases.
  init(seed: UInt64, steps: Int) {
    phases = []
    var random = SeededRandom(seed: seed)
    var planned = 0
    var serial = 0
    func step(_ context: Int, _ action: Action) -> Step {
      defer { serial += 3 }
      return Step(context: context, action: action, seed: random.next(), serial: serial)
    }
    while planned < steps {
      let isSolo = random.chance(50)
      var phase = Phase(isSolo: isSolo, seed: random.next(), steps: [])
      if isSolo {
        let context = random.below(6)
        for _ in 0..<(3 + random.below(12)) { phase.steps.append(step(context, .edit)) }
        // The first three have no parent.
        while context > 2, random.chance(40) { phase.steps.append(step(context, .save)) }
      } else {
        for _ in 0..<(5 + random.below(40)) {
          let context = random.below(6)
          let action: Action =
            switch random.below(100) {
            case 0..<12: .save
            case 12..<17: .rollback
            case 17..<30: .merge
            default: .edit
            }
          phase.steps.append(step(context, action))
        }
      }
      phases.append(phase)
      planned += phase.steps.count + 12
    }
  }

  var stepCount: Int { phases.reduce(0) { $0 + $1.steps.count } }

  /// Returns the plan without the steps of these numbers, counted over all phases; phases without steps are
  /// removed too.
  func without(_ dropped: Range<Int>) -> SoakPlan {
    var result = self
    var first = 0
    for index in phases.indices {
      let steps = phases[index].steps
      result.phases[index].steps = steps.enumerated().filter { !dropped.contains(first + $0.offset) }.map(
        \.element)
      first += steps.count
    }
    result.phases.removeAll { $0.steps.isEmpty }
    return result
  }

  /// Returns the plan up to a phase.
  func prefix(phases count: Int) -> SoakPlan {
    var result = self
    result.phases = Array(phases.prefix(count))
    return result
  }

  /// Returns the shortest plan found that still fails. Drops runs of steps, long ones first, while the plan
  /// keeps failing.
  ///
  /// - Parameters:
  ///   - attempts: Maximum number of plans to try.
  ///   - fails: Runs a plan.
  func minimised(attempts: Int, while fails: (SoakPlan) throws -> Bool) rethrows -> SoakPlan {
    var best = self
    var left = attempts
    var length = max(1, stepCount / 2)
    while left > 0 {
      var isShorter = false
      var start = max(0, best.stepCount - length)
      while left > 0 {
        let candidate = best.without(start..<(start + length))
        left -= 1
        if candidate.stepCount < best.stepCount, try fails(candidate) {
          best = candidate
          isShorter = true
        }
        if start == 0 { break }
        start = max(0, start - length)
      }
      if length == 1, !isShorter { break }
      if !isShorter || length > best.stepCount { length = max(1, min(length, best.stepCount) / 2) }
    }
    return best
  }
}
