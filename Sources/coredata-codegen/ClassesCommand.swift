import CoreDataModelCodegen
import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

/// Writes the classes of one model.
struct ClassesCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--model", "--output"])
  }

  func run() throws {
    let model = try _arguments.value("--model")
    let output = try _arguments.value("--output")
    let schema = try ModelFile.load(path: model)
    do {
      // Reports problems at build time for which the run-time loader would reject the model.
      _ = try ModelLayout(schema)
      let file = try ModelCodegen.classes(
        of: schema, name: (model as NSString).lastPathComponent,
        sources: try _arguments.rest.map(SourceFiles.read))
      try SourceFiles.write(file.text, to: output)
    } catch let error as ModelCodegenError {
      throw PlacedError(path: model, message: "\(error)")
    } catch let error as ModelLayoutError {
      throw PlacedError(path: model, message: "\(error)")
    }
  }
}

/// An error with the file it is about, in the compiler's form.
struct PlacedError: Error, CustomStringConvertible {
  let path: String
  let message: String
  var description: String { "\(path): error: \(message)" }
}
