/// A thing that programs do, measured at two sizes. `Scripts/benchmark growth --help` shows name and summary.
struct GrowthCase {
  /// How the cost of a unit may grow with the size.
  enum Law: String, Codable {
    /// Not at all.
    case constant
    /// Not in what is done. Objects that the processor's caches no longer hold cost more.
    case uncached
    /// As the size does, for the reason that the case's comment says.
    case linear

    /// The most that a unit may cost at ten times the size, in costs of the smaller.
    var limit: Double {
      switch self {
      case .constant: GrowthCase.tolerance
      case .uncached: GrowthCase.tolerance * 2.5
      case .linear: GrowthCase.tolerance * Double(GrowthCase.factor)
      }
    }
  }

  /// What a unit may cost more than its law says.
  static let tolerance = 1.5
  /// The larger size of a case, in smaller ones.
  static let factor = 10

  let name: String
  let summary: String
  /// The smaller size, and that of the short form.
  let size: Int
  let shortSize: Int
  let law: Law
  /// Whether the memory that the work takes may grow with the size.
  let holds: Bool
  let work: (GrowthBench) throws -> Void

  /// Whether the case is about a store in a file or on a server.
  var usesDatabase: Bool { !name.hasPrefix("memory-") }

  /// - Parameters:
  ///   - size: The smaller size; the larger is ten times that.
  ///   - shortSize: The smaller size in the short form.
  ///   - holds: Whether the memory that the work takes may grow with the size.
  ///   - work: Makes ready, and calls `measure` once.
  init(
    _ name: String, _ summary: String, size: Int, short shortSize: Int, law: Law = .constant,
    holds: Bool = true, _ work: @escaping (GrowthBench) throws -> Void
  ) {
    self.name = name
    self.summary = summary
    self.size = size
    self.shortSize = shortSize
    self.law = law
    self.holds = holds
    self.work = work
  }

  /// All cases, in the order of the report.
  static var all: [GrowthCase] {
    contexts + nested + predicates + toManys + memoryStores + lists + stores + models
  }

  static func named(_ name: String) -> GrowthCase? { all.first { $0.name == name } }
}
