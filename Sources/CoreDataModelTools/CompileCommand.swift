import CoreDataModelFiles
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model compile`.
  static let compile = Command(
    CommandSyntax(
      "compile", summary: "Compile a model or a mapping model, as Xcode's build does.",
      discussion: [
        "An .xcdatamodeld becomes a .momd, with a .mom for each version and a VersionInfo.plist with their hashes; a "
          + "model of one version, a .mom; an .xcmappingmodel, a .cdm. Version hashes are those of the source. "
          + "CoreDataModelPlugin does the same in a build.",
        "A class of the current product module, '.Book', is compiled as '.Book', or with --module as 'App.Book', as "
          + "Xcode does.",
        "A mapping model is complete with its two versions only: they are looked for in the models beside it and in "
          + "the directory above, or in those that --model names.",
      ],
      examples: [
        "coredata model compile Books.xcdatamodeld", "coredata model compile Books.xcdatamodeld -o Resources",
        "coredata model compile BooksV1toV2.xcmappingmodel --model Books.xcdatamodeld",
      ],
      options: [
        .output("DIRECTORY", "Write into this directory; without it, into the current one."), .force,
        .value("model", "FILE", repeats: true, "A model among whose versions those of a mapping model are."),
        .value("module", "NAME", "The module of the classes that the model says are of its own, '.Book'."),
        jsonOption,
      ],
      operands: [
        CommandSyntax.Operand(
          "MODEL", "A .xcdatamodeld, .xcdatamodel or .xcmappingmodel, another form of a model, or '-'.")
      ], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let input = try SpooledInput(path: arguments.operands[0])
    // With a stream as output, the compiled model itself is written to it.
    if arguments.text("output") == OutputFile.standardStream {
      let files = try CompileRun.files(input, arguments)
      guard files.count == 1, let file = files.first else {
        throw ToolFailure(
          .usage, "A model of several versions is a directory. Name one: '--output DIRECTORY'.")
      }
      let sink = FileSink(standardOutputOf: environment)
      try sink.write(bytes: file.data)
      try sink.finish()
      return
    }
    let files = try CompileRun.files(input, arguments)
    let directory = arguments.outputPath ?? "."
    let output = try OutputDirectory(path: directory, replaces: arguments.replacesOutputs)
    for file in files { try output.write(bytes: [UInt8](file.data), to: file.name) }
    try output.finish()
    let paths = files.map { directory == "." ? $0.name : "\(output.path)/\($0.name)" }
    try environment.output(
      arguments.has("json")
        ? JSONText.array(paths.map(JSONText.string)).text() + "\n"
        : paths.map { $0 + "\n" }.joined())
  }
}

/// One run of the compile command.
enum CompileRun {
  /// - Throws: `ToolFailure` with the error in the file and its location.
  static func files(_ input: SpooledInput, _ arguments: ParsedArguments) throws(ToolFailure) -> [CompiledFile]
  {
    do {
      return try _files(input.path, arguments.values["model"], module: arguments.text("module"))
    } catch let error as ModelFileError {
      throw input.naming(ModelInput.failure(error))
    } catch {
      throw input.naming(ToolFailure(.badInput, "\(error)."))
    }
  }

  private static func _files(
    _ path: String, _ models: [String]?, module: String?
  ) throws -> [CompiledFile] {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard MappingModelFile.extensions.contains((path as NSString).pathExtension) else {
      return try CompiledModelFile.files(of: path, module: module)
    }
    return [
      try CompiledMappingFile.file(of: path, models: models ?? CompiledMappingFile.models(beside: path))
    ]
  }
}
