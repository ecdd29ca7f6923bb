import Foundation

/// The search order of the resource bundles beside a program: its own before those of other programs in the
/// same build directory.
///
/// The package manager names a bundle `Package_Target.resources`, and a target's module after the target.
struct ResourceBundleOrder {
  /// The requesting module, if known.
  let preferred: String?
  /// The executable's module.
  let program: String
  /// Modules that have classes in the program.
  let linked: Set<String>

  /// Returns the bundles sorted by their modules' relation to the program, then by path.
  func sorted(_ bundles: [URL]) -> [URL] {
    bundles.map { (rank: _rank($0), url: $0) }
      .ordered { ($0.rank, $0.url.path) < ($1.rank, $1.url.path) }.map(\.url)
  }

  private func _rank(_ bundle: URL) -> Int {
    let modules = Self.modules(of: bundle)
    if let preferred, modules.contains(preferred) { return 0 }
    if modules.contains(program) { return 1 }
    // A module without classes may still belong to the program, but comes last.
    return linked.isDisjoint(with: modules) ? 3 : 2
  }

  /// Returns the possible modules of the bundle: either part of its name may contain underscores.
  static func modules(of bundle: URL) -> Set<String> {
    let name = ProgramModule.identifier(bundle.deletingPathExtension().lastPathComponent)
    let parts = name.split(separator: "_", omittingEmptySubsequences: false)
    return Set(parts.indices.map { parts[$0...].joined(separator: "_") })
  }
}

/// The module of the running program.
enum ProgramModule {
  /// Named after the executable, as the package manager does.
  static let name = identifier(
    Bundle.program?.executableURL?.deletingPathExtension().lastPathComponent
      ?? ProcessInfo.processInfo.processName)

  /// Converts a target's name to its module's.
  static func identifier(_ target: String) -> String {
    String(target.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
  }
}
