import Foundation
import ModelFiles
import ModelSchema
import ToolKit

extension Command {
  /// `coredata store model`.
  static let model = Command(
    CommandSyntax(
      "model", summary: "Write the model that a store carries with it, as an .xcdatamodel.",
      discussion: [
        "Without --output the model's XML goes to standard output. A name that ends in .xcdatamodel gets the directory "
          + "that Xcode and 'coredata model' read; one in .xcdatamodeld, a directory of versions with this one."
      ],
      examples: [
        "coredata store model Books.sqlite --output Books.xcdatamodel", "coredata store model Books.sqlite",
      ],
      options: [StoreArguments.json, .value("output", "PATH", "Write there instead of to standard output.")],
      operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let input = try StoreInput(arguments.operands[0], model: nil, environment)
    let text: String
    do {
      text = try ModelContentsWriter.write(input.model.schema)
    } catch {
      throw ToolFailure(.badInput, "The model in '\(input.path)' cannot be written as XML: \(error).")
    }
    guard let output = arguments.text("output") else {
      environment.output(
        arguments.has("json")
          ? JSONText.object([("origin", .string(input.model.origin)), ("contents", .string(text))]).text() + "\n" : text)
      return
    }
    let written = try ModelOutput.write(text, to: output)
    environment.output(
      arguments.has("json")
        ? JSONText.object([("origin", .string(input.model.origin)), ("file", .string(written))]).text() + "\n"
        : "The model (\(input.model.origin)) is in \(written).\n")
  }
}

/// Writes a model's XML as a file or as one of Xcode's directories.
enum ModelOutput {
  /// - Returns: The file that was written.
  static func write(_ text: String, to path: String) throws(ToolFailure) -> String {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var file = path
    switch (path as NSString).pathExtension {
    case "xcdatamodel": file += "/contents"
    case "xcdatamodeld":
      let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
      file += "/\(name).xcdatamodel/contents"
    default: break
    }
    do {
      let directory = (file as NSString).deletingLastPathComponent
      if file != path { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
    } catch {
      throw ToolFailure(.cannotCreateOutput, "Cannot make the directory of '\(file)': \(error.localizedDescription)")
    }
    try OutputFile(path: file).write(text)
    return file
  }
}
