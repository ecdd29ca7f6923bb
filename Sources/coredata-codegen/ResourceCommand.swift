import CoreDataModelFiles
import Foundation

/// Copies a model to where the build takes resources from.
struct ResourceCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--model", "--output"])
  }

  func run() throws {
    // Copying a directory whose path ends with a slash loses the separator of what is in it.
    let given = try _arguments.value("--model")
    let model = given.count > 1 && given.hasSuffix("/") ? String(given.dropLast()) : given
    let output = try _arguments.value("--output")
    // The model must be readable; its text is left as it is.
    _ = try ModelFile.load(path: model)
    let files = FileManager.default
    if files.fileExists(atPath: output) { try files.removeItem(atPath: output) }
    try files.copyItem(atPath: model, toPath: output)
    try files.setAttributes([.modificationDate: Date()], ofItemAtPath: output)
  }
}
