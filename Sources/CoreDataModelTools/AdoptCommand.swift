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
        .value(
          "autoreleasepool", "FILE",
          "Write a function autoreleasepool, which runs its closure, to a new file of the target."),
        .flag("json", "Write files, changes and remarks as JSON."),
      ],
      operands: [
        CommandSyntax.Operand("PATH", repeats: true, "Swift files, directories of them, or '-'.")
      ],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let rule: SourceAdoption.AttributeRule = try arguments.choice("attributes") ?? .guard
    let writes = arguments.has("write")
    var (changed, left) = (0, 0)
    var files: [JSONText] = []
    let inputs = try arguments.operands.map { try SpooledInput(path: $0) }
    // The adopted source of a stream is the output.
    let isFilter = writes && arguments.operands.contains(OutputFile.standardStream)
    let report = isFilter ? environment.reportingOnError : environment
    let sources = try inputs.flatMap { input in
      try SourceTree.swiftFiles(in: input.path).map { file in
        let name = input.naming(file)
        return (file: file, name: name, text: try SourceTree.text(of: file, named: name))
      }
    }
    var survey = AdoptionSurvey(paths: inputs.map(\.path), sources: sources.map(\.text))
    if let place = arguments.text("autoreleasepool") {
      try OutputFile(path: place, replaces: false, environment).write(AdoptionReport.autoreleasepool)
      survey.add(AdoptionReport.autoreleasepool)
    }
    var told = AdoptionReport()
    for (file, path, source) in sources {
      let adoption = SourceAdoption(source, attributes: rule, survey: survey, path: path)
      let remarks = told.remarks(of: adoption)
      left += remarks.count
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
        files.append(_json(adoption, remarks, path: path, preview: preview))
        continue
      }
      for remark in remarks {
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

  private static func _json(
    _ adoption: SourceAdoption, _ remarks: [SourceAdoption.Remark], path: String, preview: String?
  ) -> JSONText {
    .object([
      ("path", .string(path)), ("isChanged", .boolean(adoption.isChanged)),
      ("diff", preview.map { .string($0) } ?? .null),
      (
        "remarks",
        .array(
          remarks.map {
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
