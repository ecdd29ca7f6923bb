import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model check`.
  static let check = Command.forEach(
    CommandSyntax(
      "check", summary: "Find what is wrong in a model, or likely to be.",
      discussion: [
        "An element or attribute of the XML whose name is close to a known one is an error, since the model lacks what it says; "
          + "any other unknown one, a warning. Checks mapping models (.xcmappingmodel) as well, with the versions beside them.",
        "Ends with 65 if there is an error; with --strict, also if there is a warning. Each finding has a code in brackets, "
          + "which stays the same from version to version: '--strict=CODES' fails for these findings only, '--ignore CODES' "
          + "leaves findings out, errors excepted. Notes, on what Xcode writes by default, are shown with --all or where "
          + "--strict names them.",
        "Codes: "
          + ModelFinding.Code.allCases.filter { $0.severity != .error }.map(\.rawValue)
          .joined(separator: ", ") + ".",
      ],
      examples: [
        "coredata model check Books.xcdatamodeld",
        "coredata model check Books.xcdatamodeld --strict --ignore no-inverse,entity-name",
        "coredata model check Books.sqlite --all --json",
      ],
      options: [
        jsonOption,
        .flag(
          "strict", optionalValue: "CODES", "Take warnings for errors, or findings with these codes only."),
        .value("ignore", "CODES", repeats: true, "Leave out findings with these codes."),
        .flag("all", "Show notes, too."),
      ], operands: [modelOperand.repeated], exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let rules = try CheckRules(arguments)
    let input = try SpooledInput(path: arguments.operands[0])
    let path = input.path
    let report: CheckReport
    do throws(ModelFileError) {
      let findings = try CheckRun.findings(path)
      report = CheckReport(
        findings.filter(rules.shows), hidden: findings.count(where: rules.hides),
        places: try? ModelPlaces(path: path), path: path)
    } catch {
      let failure = input.naming(ModelInput.failure(error))
      guard arguments.has("json"), failure.code == .badInput else { throw failure }
      report = CheckReport(error)
    }
    try environment.output(input.naming(arguments.has("json") ? report.json.text() + "\n" : report.text))
    let failures = report.findings.filter(rules.fails)
    if !failures.isEmpty {
      throw ToolFailure(
        .badInput, "'\(input.name)' did not pass: \(counted(failures.count, "finding")).")
    }
  }
}

/// One run of the check command.
enum CheckRun {
  /// - Throws: `ModelFileError`.
  static func findings(_ path: String) throws(ModelFileError) -> [ModelFinding] {
    if _isMapping(path) { return try _mappingFindings(path) }
    let (schema, remarks) = try ModelInput.review(path)
    return ModelChecker(schema).findings + remarks.map { ModelFinding($0) }
  }

  private static func _isMapping(_ path: String) -> Bool {
    let url = URL(fileURLWithPath: path)
    return MappingModelFile.extensions.contains(url.pathExtension)
      || url.lastPathComponent == "xcmapping.xml"
  }

  /// Compiles a mapping model, which finds its versions and reads its expressions, and lists what has no
  /// effect.
  private static func _mappingFindings(_ path: String) throws(ModelFileError) -> [ModelFinding] {
    do {
      let mapping = try MappingModelFile.load(path: path)
      _ = try CompiledMappingFile.file(of: path, models: CompiledMappingFile.models(beside: path))
      return mapping.remarks.map {
        ModelFinding(.unknownPart, subject: ModelFinding.Subject(kind: .file, name: ""), message: $0)
      }
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(path: path, reason: "\(error)")
    }
  }
}

/// Which findings are shown, and which fail the check.
struct CheckRules {
  private let _strict: Set<ModelFinding.Code>
  private let _takesWarnings: Bool
  private let _ignored: Set<ModelFinding.Code>
  private let _showsNotes: Bool

  /// - Throws: `UsageError` for an unknown code.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    let strict: [ModelFinding.Code] = try arguments.choices("strict") ?? []
    _strict = Set(strict)
    _takesWarnings = arguments.has("strict") && strict.isEmpty
    _ignored = Set(try arguments.choices("ignore") ?? [])
    _showsNotes = arguments.has("all")
  }

  func shows(_ finding: ModelFinding) -> Bool {
    switch finding.severity {
    case .error: true
    case .warning: !_ignored.contains(finding.code)
    case .note: !_ignored.contains(finding.code) && (_showsNotes || _strict.contains(finding.code))
    }
  }

  /// Whether this is a note that only '--all' shows.
  func hides(_ finding: ModelFinding) -> Bool {
    finding.severity == .note && !_ignored.contains(finding.code) && !shows(finding)
  }

  func fails(_ finding: ModelFinding) -> Bool {
    finding.severity == .error || _strict.contains(finding.code)
      || _takesWarnings && finding.severity == .warning
  }
}

/// Findings with their locations, in the form of compiler diagnostics.
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
  private let _hidden: Int

  var findings: [ModelFinding] { _lines.map(\.finding) }

  /// - Parameter hidden: number of notes that are not in the findings.
  init(_ findings: [ModelFinding], hidden: Int, places: ModelPlaces?, path: String) {
    _hidden = hidden
    let path = places?.path ?? path
    _path = path
    _lines = findings.map { finding in
      if let line = finding.line {
        let error = ModelFileError(path: path, line: line, column: finding.column, reason: finding.message)
        let place = ModelErrorPlace(error)
        return Line(
          finding: finding, path: path, line: line, column: place?.column ?? finding.column,
          excerpt: place?.excerpt)
      }
      let place = places.flatMap { Self._place(of: finding.subject, in: $0) }
      let excerpt = place.flatMap { place in
        place.text.isEmpty
          ? nil : SourceExcerpt.text(line: place.text, column: place.column, length: place.length)
      }
      return Line(finding: finding, path: path, line: place?.line, column: place?.column, excerpt: excerpt)
    }.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  /// A model that could not be read.
  init(_ error: ModelFileError) {
    let place = ModelErrorPlace(error)
    _path = error.path
    _hidden = 0
    _lines = [
      Line(
        finding: ModelFinding(
          .unreadable, subject: ModelFinding.Subject(kind: .file, name: error.path),
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
    _lines.map { line in
      let place = line.line.map { ":\($0):\(line.column ?? 1)" } ?? ""
      let finding = line.finding
      return
        "\(line.path)\(place): \(finding.severity.rawValue): \(finding.subject.prefix)\(finding.message) "
        + "[\(finding.code.rawValue)]\n" + (line.excerpt.map { $0 + "\n" } ?? "")
    }.joined() + "\(_path): \(_summary).\n"
  }

  /// "2 errors, 1 warning".
  private var _summary: String {
    let severities: [ModelFinding.Severity] = [.error, .warning, .note]
    let parts = severities.compactMap { severity -> String? in
      let count = findings.count { $0.severity == severity }
      return count == 0 ? nil : counted(count, severity.rawValue)
    }
    let hidden = _hidden == 0 ? "" : "; --all shows \(counted(_hidden, "note"))"
    return (parts.isEmpty ? "no problems found" : parts.joined(separator: ", ")) + hidden
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
          ("code", .string(line.finding.code.rawValue)),
          ("subject", .string(line.finding.subject.shown)),
          ("entity", entity), ("property", property), ("message", .string(line.finding.message)),
          ("file", .string(line.path)), ("line", line.line.map { .integer($0) } ?? .null),
          ("column", line.column.map { .integer($0) } ?? .null),
        ])
      })
  }
}
