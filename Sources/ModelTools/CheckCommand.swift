import ModelFiles
import ModelSchema
import ToolKit

extension Command {
  /// `coredata model check`.
  static let check = Command(
    CommandSyntax(
      "check", summary: "Find what is wrong in a model, or likely to be.",
      discussion: ["Ends with 65 if there is an error; with --strict, also if there is a warning."],
      options: [jsonOption, .flag("strict", "Take warnings for errors.")], operands: [modelOperand],
      exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let path = arguments.operands[0]
    let findings = ModelChecker(try ModelInput.load(path)).findings
    let report = CheckReport(findings, places: try? ModelPlaces(path: path), path: path)
    environment.output(arguments.has("json") ? report.json.text() + "\n" : report.text)
    let failures = findings.filter { $0.severity == .error || arguments.has("strict") }
    if !failures.isEmpty { throw ToolFailure(.badInput, "'\(path)' did not pass: \(failures.count) finding(s).") }
  }
}

/// Findings with the places they are about, as a compiler shows them.
struct CheckReport {
  private let _findings: [(finding: ModelFinding, place: ModelPlaces.Place?)]
  private let _path: String

  init(_ findings: [ModelFinding], places: ModelPlaces?, path: String) {
    _path = places?.path ?? path
    _findings = findings.map { ($0, places?.place(entity: $0.entity, property: $0.property)) }
      .sorted { ($0.1?.line ?? 0, $0.1?.column ?? 0) < ($1.1?.line ?? 0, $1.1?.column ?? 0) }
  }

  var text: String {
    if _findings.isEmpty { return "\(_path): nothing to complain of.\n" }
    return _findings.map { finding, place in
      let name = finding.property.map { "\(finding.entity).\($0)" } ?? finding.entity
      let message = "\(finding.severity.rawValue): \(name): \(finding.message)\n"
      guard let place else { return "\(_path): \(message)" }
      let blanks = String(place.text.prefix(place.column - 1).map { $0 == "\t" ? "\t" : " " })
      let mark = "^" + String(repeating: "~", count: max(0, place.length - 1))
      return "\(_path):\(place.line):\(place.column): \(message)\(place.text)\n\(blanks)\(mark)\n"
    }.joined()
  }

  var json: JSONText {
    .array(
      _findings.map { finding, place in
        .object([
          ("severity", .string(finding.severity.rawValue)), ("entity", .string(finding.entity)),
          ("property", finding.property.map(JSONText.string) ?? .null), ("message", .string(finding.message)),
          ("file", .string(_path)), ("line", place.map { .integer($0.line) } ?? .null),
          ("column", place.map { .integer($0.column) } ?? .null),
        ])
      })
  }
}
