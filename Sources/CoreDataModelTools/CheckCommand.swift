import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata model check`.
  static let check = Command(
    CommandSyntax(
      "check", summary: "Find what is wrong in a model, or likely to be.",
      discussion: ["Ends with 65 if there is an error; with --strict, also if there is a warning."],
      options: [jsonOption, .flag("strict", "Take warnings for errors.")], operands: [modelOperand],
      exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let input = try SpooledInput(path: arguments.operands[0])
    let path = input.path
    let report: CheckReport
    do throws(ModelFileError) {
      report = CheckReport(
        ModelChecker(try ModelInput.read(path)).findings, places: try? ModelPlaces(path: path), path: path)
    } catch {
      let failure = input.naming(ModelInput.failure(error))
      guard arguments.has("json"), failure.code == .badInput else { throw failure }
      report = CheckReport(error)
    }
    let findings = report.findings
    try environment.output(input.naming(arguments.has("json") ? report.json.text() + "\n" : report.text))
    let failures = findings.filter { $0.severity == .error || arguments.has("strict") }
    if !failures.isEmpty {
      throw ToolFailure(.badInput, "'\(input.name)' did not pass: \(failures.count) finding(s).")
    }
  }
}

/// Findings with the places they are about, as a compiler shows them.
struct CheckReport {
  private struct Line {
    let finding: ModelFinding
    let path: String
    let line: Int?
    let column: Int?
    let excerpt: String?
  }

  private let _lines: [Line]
  private let _path: String

  var findings: [ModelFinding] { _lines.map(\.finding) }

  init(_ findings: [ModelFinding], places: ModelPlaces?, path: String) {
    let path = places?.path ?? path
    _path = path
    _lines = findings.map { finding in
      let place = places.flatMap { Self._place(of: finding.subject, in: $0) }
      let excerpt = place.flatMap { place in
        place.text.isEmpty
          ? nil : SourceExcerpt.text(line: place.text, column: place.column, length: place.length)
      }
      return Line(finding: finding, path: path, line: place?.line, column: place?.column, excerpt: excerpt)
    }.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  /// A model that could not be read at all.
  init(_ error: ModelFileError) {
    let place = ModelErrorPlace(error)
    _path = error.path
    _lines = [
      Line(
        finding: ModelFinding(
          severity: .error, subject: ModelFinding.Subject(kind: .file, name: error.path),
          message: error.reason),
        path: error.path, line: place?.line, column: place?.column, excerpt: place?.excerpt)
    ]
  }

  private static func _place(of subject: ModelFinding.Subject, in places: ModelPlaces) -> ModelPlaces.Place? {
    switch subject.kind {
    case .entity: places.place(entity: subject.name)
    case .property(let entity): places.place(entity: entity, property: subject.name)
    case .fetchRequest: places.place(of: "fetchRequest", named: subject.name)
    case .configuration: places.place(of: "configuration", named: subject.name)
    case .file: nil
    }
  }

  var text: String {
    if _lines.isEmpty { return "\(_path): nothing to complain of.\n" }
    return _lines.map { line in
      let place = line.line.map { ":\($0):\(line.column ?? 1)" } ?? ""
      let finding = line.finding
      return
        "\(line.path)\(place): \(finding.severity.rawValue): \(finding.subject.shown): \(finding.message)\n"
        + (line.excerpt.map { $0 + "\n" } ?? "")
    }.joined()
  }

  var json: JSONText {
    .array(
      _lines.map { line in
        var (entity, property): (JSONText, JSONText) = (.null, .null)
        switch line.finding.subject.kind {
        case .entity: entity = .string(line.finding.subject.name)
        case .property(let owner): (entity, property) = (.string(owner), .string(line.finding.subject.name))
        case .fetchRequest, .configuration, .file: break
        }
        return .object([
          ("severity", .string(line.finding.severity.rawValue)),
          ("subject", .string(line.finding.subject.shown)),
          ("entity", entity), ("property", property), ("message", .string(line.finding.message)),
          ("file", .string(line.path)), ("line", line.line.map { .integer($0) } ?? .null),
          ("column", line.column.map { .integer($0) } ?? .null),
        ])
      })
  }
}
