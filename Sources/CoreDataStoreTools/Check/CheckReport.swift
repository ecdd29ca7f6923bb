import CoreDataToolKit

/// Findings in words.
struct CheckReport {
  private let _findings: [StoreFinding]
  private let _path: String

  init(_ findings: [StoreFinding], path: String) {
    _findings = findings
    _path = path
  }

  /// "2 errors, 1 warning".
  static func summary(_ findings: [StoreFinding]) -> String {
    let errors = findings.count { $0.severity == .error }
    let warnings = findings.count - errors
    let parts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }.map { counted($0.0, $0.1) }
    return parts.isEmpty ? "no problems found" : parts.joined(separator: ", ")
  }

  func text(_ terminal: Terminal) -> String {
    let help = HelpText(width: terminal.isInteractive ? terminal.width : 100)
    var text = ""
    for finding in _findings {
      let style: TextStyle = finding.severity == .error ? .red : .bold
      let severity = style.applied(to: finding.severity.rawValue + ":", usesColor: terminal.usesColor)
      text += "\(severity) \(_place(finding))\(finding.kind.rawValue)\n"
      text += help.wrapped(_sentence(finding.message), indent: 2).joined(separator: "\n") + "\n"
      let mends = finding.isMendable ? " '--repair' does." : ""
      text += help.wrapped("To do: \(finding.advice).\(mends)", indent: 2).joined(separator: "\n") + "\n"
    }
    return text + "\(_path): \(Self.summary(_findings)).\n"
  }

  private func _sentence(_ message: String) -> String { message.last == "." ? message : message + "." }

  private func _place(_ finding: StoreFinding) -> String {
    if finding.table.isEmpty { return "" }
    if finding.rows.isEmpty { return "\(finding.table): " }
    let others = finding.count - finding.rows.count
    let rows = finding.rows.map(String.init).joined(separator: ", ")
    let noun = finding.count == 1 ? "row" : "rows"
    return "\(finding.table) \(noun) \(rows)\(others > 0 ? " and \(others) more" : ""): "
  }

  var json: JSONText {
    .array(
      _findings.map { finding in
        .object([
          ("severity", .string(finding.severity.rawValue)), ("kind", .string(finding.kind.rawValue)),
          ("table", finding.table.isEmpty ? .null : .string(finding.table)),
          ("rows", .array(finding.rows.map { .integer(Int($0)) })), ("count", .integer(finding.count)),
          ("message", .string(finding.message)), ("advice", .string(finding.advice)),
          ("isMendable", .boolean(finding.isMendable)),
        ])
      })
  }
}
