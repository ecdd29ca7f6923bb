import CoreDataModelCodegen
import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

/// Writes the accessors of a module's `@NSManaged` declarations.
struct AccessorsCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--module", "--output", "--model", "--dependency"])
  }

  func run() throws {
    let module = try _arguments.value("--module")
    let sources = try _arguments.rest.map(SourceFiles.read)
    // A model that cannot be read is reported by the command that writes its classes.
    let schemas = _arguments.values("--model").compactMap { try? ModelFile.load(path: $0) }
    var result = ManagedAccessors.generate(module: module, sources: sources, schemas: schemas)
    if !result.problems.isEmpty, !_arguments.values("--dependency").isEmpty {
      // Reading the module's dependencies takes longer, and is seldom needed.
      result = ManagedAccessors.generate(
        module: module, sources: sources, dependencies: try _dependencies(), schemas: schemas)
    }
    if !result.problems.isEmpty {
      for problem in result.problems { FileHandle.standardError.write(Data("\(problem)\n".utf8)) }
      exit(1)
    }
    try SourceFiles.write(result.text, to: try _arguments.value("--output"))
  }

  private func _dependencies() throws -> [ManagedAccessors.Dependency] {
    try _arguments.values("--dependency").map { argument in
      guard let equals = argument.firstIndex(of: "=") else {
        throw UsageError(message: "--dependency \(argument): expected NAME=DIRECTORY")
      }
      let directory = String(argument[argument.index(after: equals)...])
      return ManagedAccessors.Dependency(
        module: String(argument[..<equals]),
        sources: try SourceFiles.swiftFiles(in: directory).map(SourceFiles.read))
    }
  }
}
