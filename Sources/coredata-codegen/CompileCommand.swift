import CoreDataModelFiles
import Foundation

/// Compiles a model or a mapping model to the directory from which the build copies resources.
struct CompileCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--model", "--output", "--versions"])
  }

  func run() throws {
    // Copying a directory whose path ends with a slash drops the separator in the paths of its contents.
    let given = try _arguments.value("--model")
    let model = given.count > 1 && given.hasSuffix("/") ? String(given.dropLast()) : given
    let output = URL(fileURLWithPath: try _arguments.value("--output"))
    let isMapping = MappingModelFile.extensions.contains((model as NSString).pathExtension)
    let files =
      isMapping
      ? [try CompiledMappingFile.file(of: model, models: _arguments.values("--versions"))]
      : try CompiledModelFile.files(of: model)
    let manager = FileManager.default
    // Versions that no longer exist must not remain.
    if manager.fileExists(atPath: output.path) { try manager.removeItem(at: output) }
    for file in files {
      let url = output.deletingLastPathComponent().appendingPathComponent(file.name)
      try manager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try file.data.write(to: url)
    }
  }
}
