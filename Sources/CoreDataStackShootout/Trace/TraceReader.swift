import CoreDataToolKit
import Foundation

/// Reads recordings: a file for each process.
struct TraceReader {
  private var _trace = Trace()
  private var _first: Double?

  /// - Throws: `ToolFailure` for what is no recording.
  static func read(_ paths: [String]) throws -> Trace {
    var reader = TraceReader()
    for (process, path) in paths.enumerated() { try reader._read(path, process) }
    // By their ends: a fetch announces first what has changed before it.
    reader._trace.events.sort { $0.end < $1.end }
    return reader._trace
  }

  private mutating func _read(_ path: String, _ process: Int) throws {
    let spooled = try SpooledInput(path: path)
    let file = try InputFile(path: spooled.path, name: spooled.name)
    var requests: [Int: Trace.Request] = [:]
    var offset = 0.0
    var isFirst = true
    while true {
      let place = "\(spooled.name):\(file.line)"
      guard let bytes = try file.nextLine() else { break }
      if bytes.isEmpty { continue }
      guard let members = try? JSONValue.members(parsing: bytes, at: place) else {
        // The last line of a program that was killed.
        if try file.peek() == nil, !isFirst { break }
        throw ToolFailure(.badInput, "\(place): this is no line of a recording.")
      }
      let line = Line(members)
      guard isFirst == (line.text("kind") == "recording") else {
        throw ToolFailure(
          .badInput,
          "'\(spooled.name)' is no recording, which a program writes that runs with COREDATA_RECORD=FILE.")
      }
      if isFirst {
        offset = try _begin(line, spooled.name)
        isFirst = false
      } else {
        try _add(line, process, offset, &requests, place)
      }
    }
    if isFirst { throw ToolFailure(.badInput, "'\(spooled.name)' is empty.") }
  }

  /// The head of a recording. Returns by how much its times are later than those of the first.
  private mutating func _begin(_ line: Line, _ name: String) throws -> Double {
    guard line.integer("version") == 1 else {
      throw ToolFailure(.badInput, "'\(name)' is of another version of the tool; this one reads version 1.")
    }
    _trace.programs.append("\(line.text("program") ?? "?") (\(line.integer("process") ?? 0))")
    if line["values"] != .boolean(true) { _trace.hasValues = false }
    let begin = line.number("begin") ?? 0
    guard (0...1e11).contains(begin) else { throw ToolFailure(.badInput, "'\(name)' begins at no time.") }
    if _first == nil { _first = begin }
    return begin - (_first ?? begin)
  }

  private mutating func _add(
    _ line: Line, _ process: Int, _ offset: Double, _ requests: inout [Int: Trace.Request], _ place: String
  ) throws {
    let context = Trace.ContextID(process: process, number: line.integer("context") ?? 0)
    let kind: Trace.Kind
    switch line.text("kind") {
    case "request":
      requests[line.integer("request") ?? 0] = Trace.Request(
        entity: line.text("entity") ?? "", result: line.text("result") ?? "objects",
        predicate: line.text("where"),
        sort: line.texts("sort"), limit: line.integer("limit") ?? 0, offset: line.integer("offset") ?? 0,
        batch: line.integer("batch") ?? 0, prefetch: line.texts("prefetch"))
      return
    case "dropped":
      _trace.dropped += line.integer("events") ?? 0
      return
    case "context":
      let parent = line.integer("parent").map { Trace.ContextID(process: process, number: $0) }
      _trace.contexts[context] = Trace.Context(
        role: line.text("role").flatMap(Trace.Context.Role.init) ?? .private, parent: parent)
      return
    case "fetch", "count":
      guard let request = requests[line.integer("request") ?? 0] else { throw _failure(place) }
      let found = line.integer("found") ?? 0
      kind =
        line.text("kind") == "count"
        ? .count(request, found: found, predicate: line.text("where"))
        : .fetch(request, found: found, ids: line.texts("ids"), predicate: line.text("where"))
    case "fault": kind = .fault(line.text("id") ?? "", rows: line.integer("rows") ?? 1)
    case "members":
      kind = .members(
        line.text("id") ?? "", relationship: line.text("relationship") ?? "",
        found: line.integer("found") ?? 0)
    case "changes": kind = .changes(_changes(line))
    case "save": kind = _save(line, process)
    case "execute": kind = .execute(line.text("request") ?? "?")
    case "merge": kind = .merge(objects: line.integer("objects") ?? 0)
    case "reset": kind = .reset
    case "rollback": kind = .rollback
    default: throw _failure(place)
    }
    let (time, milliseconds) = (line.number("t") ?? 0, line.number("ms") ?? 0)
    // A year, which nothing that is calculated with it exceeds.
    guard (0...3e7).contains(time), (0...3e10).contains(milliseconds) else { throw _failure(place) }
    _trace.events.append(
      Trace.Event(
        begin: time + offset, milliseconds: milliseconds,
        isOnMain: line.integer("thread") == 0, context: context, kind: kind))
  }

  private mutating func _save(_ line: Line, _ process: Int) -> Trace.Kind {
    if case .object(let pairs)? = line["named"] {
      for pair in pairs {
        if case .string(let stored) = pair.value {
          _trace.formerNames[stored] = Trace.unsavedName(pair.name, in: process)
        }
      }
    }
    return .save(
      _changes(line), objects: line.integer("objects") ?? 0, toStore: line["store"] == .boolean(true),
      error: line.integer("error"))
  }

  private func _changes(_ line: Line) -> [Trace.Change] {
    var changes: [Trace.Change] = []
    if case .array(let elements)? = line["changes"] {
      for case .object(let members) in elements {
        let change = Line(members)
        for kind in Trace.Change.Kind.allCases {
          guard let id = change.text(kind.rawValue) else { continue }
          var made = Trace.Change(kind: kind, id: id, keys: change.texts("keys"))
          if case .object(let values)? = change["values"] {
            made.values = values.map { Trace.JSONMember(name: $0.name, value: $0.value) }
            made.keys = values.map(\.name)
          }
          changes.append(made)
        }
      }
    }
    return changes
  }

  private func _failure(_ place: String) -> ToolFailure {
    ToolFailure(.badInput, "\(place): the recording is damaged here.")
  }

  /// The members of a line.
  private struct Line {
    private let _members: [JSONValue.Member]

    init(_ members: [JSONValue.Member]) { _members = members }

    subscript(name: String) -> JSONValue? { _members.first { $0.name == name }?.value }

    func text(_ name: String) -> String? {
      if case .string(let text)? = self[name] { text } else { nil }
    }

    func integer(_ name: String) -> Int? {
      if case .number(let digits)? = self[name] { Int(digits) } else { nil }
    }

    func number(_ name: String) -> Double? {
      if case .number(let digits)? = self[name] { Double(digits) } else { nil }
    }

    func texts(_ name: String) -> [String] {
      guard case .array(let elements)? = self[name] else { return [] }
      return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
  }
}
