import Foundation

/// The order in which the resource bundles beside a program are searched: its own before those of other
/// programs, which a build directory holds as well.
///
/// The package manager names a bundle `Package_Target.resources`, and a target's module after the target.
struct ResourceBundleOrder {
  /// The module that asks, if it is known.
  let preferred: String?
  /// The executable's module.
  let program: String
  /// Modules that have classes in the program.
  let linked: Set<String>

  /// The bundles by what their modules are to the program, then by path.
  func sorted(_ bundles: [URL]) -> [URL] {
    bundles.map { (rank: _rank($0), url: $0) }
      .sorted { ($0.rank, $0.url.path) < ($1.rank, $1.url.path) }.map(\.url)
  }

  private func _rank(_ bundle: URL) -> Int {
    let modules = Self._modules(bundle)
    if let preferred, modules.contains(preferred) { return 0 }
    if modules.contains(program) { return 1 }
    // Without a class in the program its module may be there all the same, but is the last to look at.
    return linked.isDisjoint(with: modules) ? 3 : 2
  }

  /// What the bundle's module may be called: either part of the name may contain underscores.
  private static func _modules(_ bundle: URL) -> Set<String> {
    let name = ProgramModule.identifier(bundle.deletingPathExtension().lastPathComponent)
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    return Set(parts.indices.map { parts[$0...].joined(separator: "_") })
  }
}

/// The module of the program that runs.
enum ProgramModule {
  /// Named after the executable, as the package manager does.
  static let name = identifier(
    Bundle.main.executableURL?.deletingPathExtension().lastPathComponent
      ?? ProcessInfo.processInfo.processName)

  /// A target's name as that of a module.
  static func identifier(_ target: String) -> String {
    String(target.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
  }
}
