import CoreDataModelCodegen
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model adopt`.
  static let adopt = Command(
    CommandSyntax(
      "adopt",
      summary: "Adapt source written for Apple's Core Data: guard @objc, replace #keyPath, name imports.",
      discussion: [
        "Shows the changes as a diff; --write makes them, of standard input on standard output. What takes a person to change (observation of keys, selectors, "
          + "Combine) is listed with its place."
      ],
      examples: [
        "coredata model adopt Sources", "coredata model adopt Sources/Books/Book.swift --write",
      ],
      options: [
        .flag("write", "Change the files."),
        .choice(
          "attributes", "RULE", SourceAdoption.AttributeRule.self,
          "What to do with @objc: guard (the default) or strip."),
        .flag("json", "Write files, changes and remarks as JSON."),
      ], operands: [CommandSyntax.Operand("PATH", "A Swift file, a directory of them, or '-'.")],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let rule: SourceAdoption.AttributeRule = try arguments.choice("attributes") ?? .guard
    let writes = arguments.has("write")
    var (changed, left) = (0, 0)
    var files: [JSONText] = []
    let input = try SpooledInput(path: arguments.operands[0])
    // The adopted source of a stream is the output.
    let isFilter = writes && arguments.operands[0] == OutputFile.standardStream
    let report = isFilter ? environment.reportingOnError : environment
    let sources = try SourceTree.swiftFiles(in: input.path).map { file in
      (file: file, text: try SourceTree.text(of: file, named: input.naming(file)))
    }
    let survey = AdoptionSurvey(paths: [input.path], sources: sources.map(\.text))
    for (file, source) in sources {
      let path = input.naming(file)
      let adoption = SourceAdoption(source, attributes: rule, survey: survey)
      left += adoption.remarks.count
      if adoption.isChanged { changed += 1 }
      let preview =
        writes || !adoption.isChanged
        ? nil : UnifiedDiff.text(from: adoption.original, to: adoption.adopted, path: path)
      if isFilter {
        try environment.output(adoption.adopted)
      } else if adoption.isChanged, writes {
        try OutputFile(path: file, replaces: true, environment).write(adoption.adopted)
      }
      if arguments.has("json") {
        files.append(_json(adoption, path: path, preview: preview))
        continue
      }
      for remark in adoption.remarks {
        try report.output("\(path):\(remark.line):\(remark.column): note: \(remark.message)\n")
      }
      if let preview { try report.output(preview) }
    }
    if arguments.has("json") {
      let document = JSONText.object([
        ("files", .array(files)), ("changed", .integer(changed)), ("written", .boolean(writes)),
        ("remarks", .integer(left)),
      ])
      try report.output(document.text() + "\n")
      return
    }
    let verb = writes ? "changed" : "to be changed (--write does it)"
    try report.output(
      "\(counted(changed, "file")) \(verb), \(counted(left, "place")) left for a person.\n")
  }

  private static func _json(_ adoption: SourceAdoption, path: String, preview: String?) -> JSONText {
    .object([
      ("path", .string(path)), ("isChanged", .boolean(adoption.isChanged)),
      ("diff", preview.map { .string($0) } ?? .null),
      (
        "remarks",
        .array(
          adoption.remarks.map {
            .object([
              ("line", .integer($0.line)), ("column", .integer($0.column)), ("message", .string($0.message)),
            ])
          })
      ),
    ])
  }
}

/// Swift files under a path.
enum SourceTree {
  /// - Throws: `ToolFailure` for a file that cannot be read, or is not text.
  static func text(of file: String, named name: String) throws(ToolFailure) -> String {
    guard let data = FileManager.default.contents(atPath: file) else {
      throw ToolFailure(.noInput, "Cannot read '\(name)'.")
    }
    guard let source = String(validating: data, as: UTF8.self) else {
      throw ToolFailure(.badInput, "'\(name)' is not UTF-8 text; save it as such.")
    }
    return source
  }

  /// - Throws: `ToolFailure` if the path does not exist.
  static func swiftFiles(in path: String) throws(ToolFailure) -> [String] {
    guard let files = SwiftFiles.paths(in: path) else {
      throw ToolFailure(.noInput, "There is no '\(path)'. Name a Swift file, or a directory of them.")
    }
    return files
  }
}
