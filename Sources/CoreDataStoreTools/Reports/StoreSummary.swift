import CoreData
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// A one-screen summary of a store file.
struct StoreSummary {
  /// A line of the summary.
  private struct Fact {
    let name: String
    let text: String
    let key: String
    let json: JSONText
  }

  private var _facts: [Fact] = []
  private let _findings: [StoreFinding]
  private let _listing: EntityListing?

  /// - Parameter findings: of a check.
  init(_ input: StoreInput, _ connection: Connection, _ listing: EntityListing?, _ findings: [StoreFinding])
    throws
  {
    _findings = findings
    _listing = listing
    _addFile(input)
    _addMetadata(input.metadata)
    _add("Model", input.model.origin, "model")
    try _addDatabase(input.path, connection)
    try _addHistory(connection)
    _addExternalData(input.path)
    _addOwnMetadata(input.metadata)
    let health = CheckReport.summary(findings)
    _add(
      "Health", findings.isEmpty ? "good: \(health)" : "\(health): see 'coredata store check'",
      "health",
      .string(health))
  }

  private mutating func _add(_ name: String, _ text: String, _ key: String, _ json: JSONText? = nil) {
    _facts.append(Fact(name: name, text: text, key: key, json: json ?? .string(text)))
  }

  private mutating func _addFile(_ input: StoreInput) {
    let size = Self._size(input.path) ?? 0
    let log = Self._size(input.path + "-wal") ?? 0
    _add("File", input.name, "file")
    let text = ByteCount.text(size) + (log > 0 ? ", and \(ByteCount.text(log)) in the write-ahead log" : "")
    _add("Size", text, "size", .integer(size))
    if log > 0 { _facts.append(Fact(name: "", text: "", key: "logSize", json: .integer(log))) }
  }

  private mutating func _addMetadata(_ metadata: [String: Any]) {
    _add("UUID", metadata["NSStoreUUID"] as? String ?? "none", "uuid")
    if let version = (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue {
      _add("Written by", "Core Data \(version)", "frameworkVersion", .integer(version))
    } else {
      _add("Written by", "not recorded", "frameworkVersion", .null)
    }
    let identifiers =
      (metadata["NSStoreModelVersionIdentifiers"] as? [Any])?.compactMap { $0 as? String }
      .filter { !$0.isEmpty } ?? []
    if !identifiers.isEmpty {
      _add(
        "Version", identifiers.joined(separator: ", "), "versionIdentifiers",
        .array(identifiers.map(JSONText.string)))
    }
  }

  private mutating func _addDatabase(_ path: String, _ connection: Connection) throws {
    let page = try connection.pragma("page_size") ?? "?"
    let mode = Self._journal(path)
    let free = Int(try connection.pragma("freelist_count") ?? "") ?? 0
    _add(
      "Database",
      "pages of \(page) bytes, journal \(mode)\(free > 0 ? ", \(counted(free, "free page"))" : "")",
      "database",
      .object([
        ("pageSize", .integer(Int(page) ?? 0)), ("journalMode", .string(mode)), ("freePages", .integer(free)),
      ]))
  }

  /// The database's journal mode. From its header: a connection that must not write may have another one.
  private static func _journal(_ path: String) -> String { DatabaseHead.hasLog(path) ? "wal" : "delete" }

  private mutating func _addHistory(_ connection: Connection) throws {
    let exists = try connection.firstValue(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'")
    guard exists != nil else { return _add("History", "none", "history", .null) }
    var transactions = 0
    var span = ""
    try connection.query("SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION") { row in
      transactions = Int(clamping: row.int64(0))
      if transactions > 0 { span = ", \(Self._moment(row.double(1))) to \(Self._moment(row.double(2)))" }
    }
    var changes = 0
    if case .int(let count)? = try connection.firstValue("SELECT COUNT(*) FROM ACHANGE") {
      changes = Int(clamping: count)
    }
    _add(
      "History", "\(counted(transactions, "transaction")), \(counted(changes, "change"))\(span)", "history",
      .object([("transactions", .integer(transactions)), ("changes", .integer(changes))]))
  }

  private mutating func _addExternalData(_ path: String) {
    let directory = StoreFileFacts.externalDirectory(path: path)
    let files = ExternalFiles.names(in: directory)
    guard !files.isEmpty else { return _add("External data", "none", "externalData", .null) }
    let bytes = files.reduce(0) { $0 + (Self._size("\(directory)/\($1)") ?? 0) }
    _add(
      "External data", "\(counted(files.count, "file")), \(ByteCount.text(bytes))", "externalData",
      .object([("files", .integer(files.count)), ("bytes", .integer(bytes))]))
  }

  /// The application's own metadata.
  private mutating func _addOwnMetadata(_ metadata: [String: Any]) {
    let own = metadata.keys.filter { !$0.hasPrefix("NS") && !$0.hasPrefix("_NS") }.sorted()
    guard !own.isEmpty else { return }
    let values = own.map {
      (key: $0, text: TextWidth.truncated(ValueText.onOneLine("\(metadata[$0]!)"), to: 60))
    }
    _add(
      "Metadata", values.map { "\($0.key): \($0.text)" }.joined(separator: "; "), "metadata",
      .object(values.map { ($0.key, .string($0.text)) }))
  }

  private static func _moment(_ seconds: Double) -> String { String(ISODate.shown(seconds).dropLast(3)) }

  private static func _size(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue
  }

  // MARK: Output

  func text(_ terminal: Terminal) -> String {
    let shown = _facts.filter { !$0.name.isEmpty }
    let width = (shown.map { TextWidth.of($0.name) }.max() ?? 0) + 2
    let help = HelpText(width: terminal.isInteractive ? terminal.width : 100)
    var text = ""
    for fact in shown {
      let lines = help.wrapped(fact.text, indent: width)
      let name = TextStyle.bold.applied(to: fact.name, usesColor: terminal.usesColor)
      let blanks = String(repeating: " ", count: width - TextWidth.of(fact.name))
      text += name + blanks + lines[0].dropFirst(width) + "\n"
      for line in lines.dropFirst() { text += line + "\n" }
    }
    if let _listing { text += "\n" + _listing.text(terminal, withProperties: false) }
    return text
  }

  var json: JSONText {
    .object(
      _facts.map { ($0.key, $0.json) } + [
        ("findings", CheckReport(_findings, path: "").json), ("entities", _listing?.json ?? .null),
      ])
  }
}

/// Formats file sizes for display.
package enum ByteCount {
  /// "512 bytes", "1.4 MB".
  package static func text(_ count: Int) -> String {
    if count < 1000 { return counted(count, "byte") }
    var size = Double(count) / 1000
    for unit in ["kB", "MB", "GB"] {
      if size < 999.5 { return String(format: size < 9.95 ? "%.1f" : "%.0f", size) + " " + unit }
      size /= 1000
    }
    return String(format: "%.1f TB", size)
  }
}
