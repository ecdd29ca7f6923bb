import Foundation

extension AdoptionSurvey {
  /// A survey of the sources at some paths, with the modules of the package that they are part of.
  package init(paths: [String], sources: [String]) {
    self.init()
    for path in paths { ownModules.formUnion(Self._modules(around: path)) }
    packages = PackageManifest.all(around: paths)
    for source in sources { add(source) }
  }

  /// Names of the directories in `Sources` at a path, or at one of the four above it.
  private static func _modules(around path: String) -> Set<String> {
    var found: Set<String> = []
    var directory = URL(fileURLWithPath: path)
    for _ in 0..<5 {
      if directory.deletingLastPathComponent().lastPathComponent == "Sources" {
        found.insert(directory.lastPathComponent)
      }
      let sources = directory.appendingPathComponent("Sources").path
      found.formUnion((try? FileManager.default.contentsOfDirectory(atPath: sources)) ?? [])
      directory.deleteLastPathComponent()
    }
    return found
  }
}
