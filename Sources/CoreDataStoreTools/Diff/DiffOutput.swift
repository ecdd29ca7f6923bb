import CoreDataToolKit

/// Writes the changes between two stores as they are found.
struct DiffOutput {
  private let _sink: FileSink
  private let _isJSON: Bool
  private let _width: Int?
  private var _count = 0

  /// - Parameter width: Columns of the terminal; nil for other outputs, whose lines are not cut.
  init(_ sink: FileSink, isJSON: Bool, width: Int?) {
    (_sink, _isJSON, _width) = (sink, isJSON, width)
  }

  mutating func write(_ change: StoreComparison.Change) throws {
    _count += 1
    if _isJSON {
      return try _sink.write((_count == 1 ? "{\"changes\":[\n  " : ",\n  ") + Self._json(change))
    }
    let mark =
      switch change.kind {
      case .added: "+"
      case .removed: "-"
      case .changed: "~"
      }
    try _sink.write("\(mark) \(_cut(ValueText.onOneLine(change.object), 2))\n")
    for (name, before, after) in change.properties {
      let text =
        switch (before, after) {
        case (.members(let old, let isOrdered)?, .members(let new, _)?): Self._text(old, new, isOrdered)
        case (let old?, let new?): "\(Self._text(old)) → \(Self._text(new))"
        case (let old?, nil): Self._text(old)
        case (nil, let new?): Self._text(new)
        case (nil, nil): ""
        }
      try _sink.write("    \(_cut("\(name): \(ValueText.onOneLine(text))", 4))\n")
    }
  }

  private func _cut(_ text: String, _ indent: Int) -> String {
    _width.map { TextWidth.truncated(text, to: max(20, $0 - indent)) } ?? text
  }

  private static func _text(_ content: StoreSide.Content) -> String {
    switch content {
    case .value(let text): text
    case .members(let members, _): members.joined(separator: ", ")
    }
  }

  /// The members that came and went; the whole lists if only their order has changed.
  private static func _text(_ old: [String], _ new: [String], _ isOrdered: Bool) -> String {
    let (former, current) = (Set(old), Set(new))
    let parts =
      old.filter { !current.contains($0) }.map { "-" + $0 }
      + new.filter { !former.contains($0) }.map { "+" + $0 }
    return parts.isEmpty
      ? "\(old.joined(separator: ", ")) → \(new.joined(separator: ", "))" : parts.joined(separator: ", ")
  }

  /// The change as JSON, on one line.
  private static func _json(_ change: StoreComparison.Change) -> String {
    func json(_ content: StoreSide.Content) -> String {
      switch content {
      case .value(let text): text
      case .members(let members, _): "[\(members.map(JSONText.quoted).joined(separator: ","))]"
      }
    }
    let properties = change.properties.map { name, before, after in
      let sides = [before.map { "\"before\":\(json($0))" }, after.map { "\"after\":\(json($0))" }]
      return "\(JSONText.quoted(name)):{\(sides.compactMap { $0 }.joined(separator: ","))}"
    }
    return "{\"change\":\"\(change.kind.rawValue)\",\"entity\":\(JSONText.quoted(change.entity)),"
      + "\"object\":\(JSONText.quoted(change.object)),\"properties\":{\(properties.joined(separator: ","))}}"
  }

  /// Writes the counts and ends.
  mutating func finish(_ entities: [String], _ counts: [String: StoreComparison.Counts], notes: [String])
    throws
  {
    let changed = entities.filter { counts[$0]?.isEmpty == false }
    if _isJSON {
      let summary = entities.map { name in
        let count = counts[name] ?? .init()
        return "\(JSONText.quoted(name)):{\"added\":\(count.added),\"removed\":\(count.removed),"
          + "\"changed\":\(count.changed),\"same\":\(count.same)}"
      }
      try _sink.write(
        (_count == 0 ? "{\"changes\":[" : "\n") + "],\n\"notes\":["
          + notes.map(JSONText.quoted).joined(separator: ",") + "],\n\"summary\":{"
          + summary.joined(separator: ",") + "}}\n")
      return try _sink.finish()
    }
    if changed.isEmpty {
      try _sink.write("No differences.\n")
    } else {
      if _count > 0 { try _sink.write("\n") }
      var table = TextTable([
        .init("entity", .left), .init("added", .right), .init("removed", .right), .init("changed", .right),
        .init("same", .right),
      ])
      for name in changed {
        let count = counts[name] ?? .init()
        table.add(
          [name, grouped(count.added), grouped(count.removed), grouped(count.changed), grouped(count.same)]
            .map {
              TextTable.Cell($0)
            })
      }
      try _sink.write(table.text(usesColor: false))
    }
    for note in notes { try _sink.write(note + "\n") }
    try _sink.finish()
  }
}
