import CoreDataModelFiles
import Foundation

/// Compiles a model or a mapping model to the directory from which the build copies resources.
struct CompileCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--model", "--output", "--versions", "--module"])
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
      : try CompiledModelFile.files(of: model, module: _arguments.values("--module").last)
    try isMapping ? _reviewMapping(model) : _review(model)
    let manager = FileManager.default
    // Versions that no longer exist must not remain.
    if manager.fileExists(atPath: output.path) { try manager.removeItem(at: output) }
    for file in files {
      let url = output.deletingLastPathComponent().appendingPathComponent(file.name)
      try manager.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try file.data.write(to: url)
    }
  }

  /// Warns of what is unknown in a mapping model.
  private func _reviewMapping(_ path: String) throws {
    for remark in try MappingModelFile.load(path: path).remarks { _warn("\(path): warning: \(remark)") }
  }

  /// Warns of what is skipped in a model, in every version.
  ///
  /// - Throws: `MisspeltModel` for what is probably misspelt: the model would lack it.
  private func _review(_ path: String) throws {
    let isVersioned = ["xcdatamodeld", "momd"].contains((path as NSString).pathExtension)
    let paths = isVersioned ? try ModelVersions(path: path).versions.map(\.path) : [path]
    var errors: [String] = []
    for path in paths {
      let (_, remarks, file) = try ModelFile.review(path: path)
      for remark in remarks {
        let place = "\(file):\(remark.line):\(remark.column)"
        if remark.kind == .misspelt {
          errors.append("\(place): error: \(remark.message)")
        } else {
          _warn("\(place): warning: \(remark.message)")
        }
      }
    }
    if !errors.isEmpty { throw MisspeltModel(description: errors.joined(separator: "\n")) }
  }

  private func _warn(_ message: String) { FileHandle.standardError.write(Data("\(message)\n".utf8)) }
}

/// Misspelt elements and attributes of a model, each with its place in the compiler's form.
private struct MisspeltModel: Error, CustomStringConvertible {
  let description: String
}
