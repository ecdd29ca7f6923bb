import CoreDataToolKit

/// Writes a timeline in one of its forms.
struct TimelineOutput {
  enum Form: String, CaseIterable { case text, csv, ndjson, bodyfile }

  /// Default number of events on a terminal.
  static let screenLimit = 100

  private let _sources: [TimelineSource]
  private let _zone: TimeZoneText
  private let _sink: FileSink
  private let _width: Int?

  /// - Parameter width: Columns of the terminal; nil for other outputs, whose lines are not cut.
  init(_ sources: [TimelineSource], _ zone: TimeZoneText, _ sink: FileSink, width: Int?) {
    (_sources, _zone, _sink, _width) = (sources, zone, sink, width)
  }

  func write(_ events: some Collection<TimelineEvent>, as form: Form) throws {
    if form == .csv { try _sink.write(CSVText.line(["moment", "store", "object", "property", "label"])) }
    for event in events {
      let source = _sources[Int(event.store)]
      let (object, property, label) = try source.words(event)
      switch form {
      case .text:
        let store = _sources.count > 1 ? "\(source.name)  " : ""
        let line =
          "\(_zone.shown(event.moment))  \(store)\(object)  \(property)  \(ValueText.onOneLine(label))"
        try _sink.write((_width.map { TextWidth.truncated(line, to: $0) } ?? line) + "\n")
      case .csv:
        try _sink.write(CSVText.line([_zone.text(event.moment), source.name, object, property, label]))
      case .ndjson:
        let fields = [
          ("moment", _zone.text(event.moment)), ("store", source.name), ("object", object),
          ("property", property),
          ("label", label),
        ]
        try _sink.write(
          "{" + fields.map { "\(JSONText.quoted($0)):\(JSONText.quoted($1))" }.joined(separator: ",") + "}\n")
      case .bodyfile:
        try _sink.write(_bodyLine(event, "\(source.name): \(object) \(property) \(label)", property))
      }
    }
    try _sink.flush()
  }

  /// A line of The Sleuth Kit's body file: MD5, name, inode, mode, UID, GID, size, and the times of access, modification, change
  /// and creation, of which a date is the one that its name suggests.
  private func _bodyLine(_ event: TimelineEvent, _ text: String, _ property: String) -> String {
    let name = ValueText.onOneLine(text).replacing("|", with: "¦")
    // Seconds since 1970; the form has none before.
    let seconds = max(0, (event.moment + 978_307_200).rounded(.down))
    let moment = String(Int64(min(seconds, 9e15)))
    let words = property.lowercased()
    func has(_ parts: String...) -> Bool { parts.contains { words.contains($0) } }
    var times = ["0", "0", "0", "0"]
    let place =
      has("creat", "added", "insert", "born")
      ? 3 : has("access", "open", "view", "read", "seen", "used") ? 0 : 1
    times[place] = moment
    return "0|\(name)|\(event.key)|0|0|0|0|\(times.joined(separator: "|"))\n"
  }
}
