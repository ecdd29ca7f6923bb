import CoreDataModelSchema
import Foundation

/// Writes events as objects of JSON, one a line. Not for concurrent use.
struct TraceWriter {
  private let _descriptor: Int32
  private let _recordsValues: Bool
  private let _source: String
  private var _bytes: [UInt8] = []
  /// Whether the file could not be written: what follows would not fit what is in it.
  private var _hasFailed = false
  private var _shapes = 0
  private let _begin = TraceRecorder.now

  /// - Parameter source: What has asked for the recording, in messages.
  init(_ descriptor: Int32, recordsValues: Bool, source: String) {
    (_descriptor, _recordsValues, _source) = (descriptor, recordsValues, source)
    let program = _quoted(CommandLine.arguments.first.map { ($0 as NSString).lastPathComponent } ?? "")
    _add(
      "{\"kind\":\"recording\",\"version\":1,\"program\":\(program),\"process\":\(getpid()),\"values\":\(recordsValues),"
        + "\"begin\":\(Date().timeIntervalSince1970),\"processors\":\(ProcessInfo.processInfo.activeProcessorCount)}"
    )
  }

  mutating func write(_ events: [TraceEvent], thread: Int, dropped: Int, _ names: TraceNames) {
    if dropped > 0 { _add("{\"kind\":\"dropped\",\"thread\":\(thread),\"events\":\(dropped)}") }
    guard !events.isEmpty else { return }
    for (shape, predicate) in names.shapes(after: _shapes) {
      _shapes += 1
      _add(_text(shape, predicate, number: _shapes, names))
    }
    for event in events {
      let time = event.begin > _begin ? Double(event.begin - _begin) / 1e9 : 0
      var line =
        "{\"t\":\(_rounded(time, 1e6)),\"ms\":\(_rounded(Double(event.nanoseconds) / 1e6, 1e4)),\"thread\":\(thread),"
      line += "\"context\":\(event.context)," + _text(event.kind, names) + "}"
      _add(line)
    }
  }

  /// Writes what has been collected to the file. A failure, such as a full disk, ends the recording and is logged.
  mutating func flush() {
    defer { _bytes.removeAll(keepingCapacity: true) }
    if _hasFailed { return }
    let error: Int32 = _bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = Foundation.write(_descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count < 0 && errno == EINTR { continue }
        if count <= 0 { return count < 0 ? errno : EIO }
        done += count
      }
      return 0
    }
    guard error != 0 else { return }
    _hasFailed = true
    Console.warn("\(_source): the recording ends here: \(String(cString: strerror(error))).")
  }

  /// Closes the file. Nothing is written afterwards.
  mutating func close() {
    if !_hasFailed { Foundation.close(_descriptor) }
    _hasFailed = true
  }

  private mutating func _add(_ line: String) {
    _bytes += line.utf8
    _bytes.append(0x0A)
  }

  private func _rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }

  // MARK: Events

  private func _text(_ shape: TraceNames.Shape, _ predicate: String?, number: Int, _ names: TraceNames)
    -> String
  {
    let result =
      switch NSFetchRequestResultType(rawValue: shape.result) {
      case .managedObjectIDResultType: "ids"
      case .dictionaryResultType: "dictionaries"
      case .countResultType: "count"
      default: "objects"
      }
    var text =
      "{\"kind\":\"request\",\"request\":\(number),\"entity\":\(_quoted(names.layout(shape.entity).entityName)),"
    text += "\"result\":\"\(result)\""
    if let predicate { text += ",\"where\":\(_quoted(predicate))" }
    if !shape.sort.isEmpty { text += ",\"sort\":\(_list(shape.sort))" }
    if shape.limit > 0 { text += ",\"limit\":\(shape.limit)" }
    if shape.offset > 0 { text += ",\"offset\":\(shape.offset)" }
    if shape.batch > 0 { text += ",\"batch\":\(shape.batch)" }
    if !shape.prefetch.isEmpty { text += ",\"prefetch\":\(_list(shape.prefetch))" }
    return text + "}"
  }

  private func _text(_ kind: TraceEvent.Kind, _ names: TraceNames) -> String {
    switch kind {
    case .context(let role, let parent):
      return "\"kind\":\"context\",\"role\":\"\(role)\"" + (parent == 0 ? "" : ",\"parent\":\(parent)")
    case .fetch(let shape, let found, let ids, let predicate):
      return "\"kind\":\"fetch\",\"request\":\(shape),\"found\":\(found)" + _where(predicate)
        + (ids.isEmpty ? "" : ",\"ids\":\(_list(ids, names))")
    case .count(let shape, let found, let predicate):
      return "\"kind\":\"count\",\"request\":\(shape),\"found\":\(found)" + _where(predicate)
    case .fault(let id, let rows): return "\"kind\":\"fault\",\"id\":\(_name(id, names)),\"rows\":\(rows)"
    case .members(let id, let slot, let found):
      let name = names.layout(id.entity).slots[slot].name
      return
        "\"kind\":\"members\",\"id\":\(_name(id, names)),\"relationship\":\(_quoted(name)),\"found\":\(found)"
    case .changes(let changes):
      return "\"kind\":\"changes\",\"changes\":[" + changes.map { _text($0, names) }.joined(separator: ",")
        + "]"
    case .save(let save): return _text(save, names)
    case .execute(let request): return "\"kind\":\"execute\",\"request\":\(_quoted(request))"
    case .merge(let objects): return "\"kind\":\"merge\",\"objects\":\(objects)"
    case .rollback: return "\"kind\":\"rollback\""
    case .reset: return "\"kind\":\"reset\""
    }
  }

  private func _where(_ predicate: String?) -> String { predicate.map { ",\"where\":\(_quoted($0))" } ?? "" }

  private func _text(_ save: TraceEvent.Save, _ names: TraceNames) -> String {
    var text = "\"kind\":\"save\",\"store\":\(save.isToStore),\"objects\":\(save.objects)"
    if let error = save.error { text += ",\"error\":\(error)" }
    if !save.changes.isEmpty {
      text += ",\"changes\":[" + save.changes.map { _text($0, names) }.joined(separator: ",") + "]"
    }
    if !save.named.isEmpty {
      let pairs = save.named.map { "\(_name($0, names)):\(_name($1, names))" }
      text += ",\"named\":{\(pairs.joined(separator: ","))}"
    }
    return text
  }

  private func _text(_ change: TraceEvent.Change, _ names: TraceNames) -> String {
    var text = "{\"\(change.kind.rawValue)\":\(_name(change.id, names))"
    let layout = names.layout(change.id.entity)
    var keys: [String] = []
    change.slots.forEach { slot in
      guard slot < layout.slots.count, !layout.slots[slot].isHidden else { return }
      let name = _quoted(layout.slots[slot].name)
      guard let row = change.row else { return keys.append(name) }
      keys.append("\(name):\(_value(row[slot], names))")
    }
    if !keys.isEmpty {
      text +=
        change.row == nil
        ? ",\"keys\":[\(keys.joined(separator: ","))]" : ",\"values\":{\(keys.joined(separator: ","))}"
    }
    return text + "}"
  }

  // MARK: Values

  private func _name(_ id: TraceEvent.Identity, _ names: TraceNames) -> String {
    "\"\(names.layout(id.entity).entityName)/\(id.isTemporary ? "t" : "p")\(id.reference)\""
  }

  private func _name(_ id: NSManagedObjectID) -> String {
    let id = id.canonical
    return "\"\(id.space.layout.entityName)/\(id.isTemporary ? "t" : "p")\(id.reference)\""
  }

  private func _list(_ ids: [TraceEvent.Identity], _ names: TraceNames) -> String {
    "[\(ids.map { _name($0, names) }.joined(separator: ","))]"
  }

  private func _list(_ texts: [String]) -> String { "[\(texts.map(_quoted).joined(separator: ","))]" }

  private func _value(_ value: Value, _ names: TraceNames) -> String {
    switch value {
    case .null, .transformable, .composite: "null"
    case .int(let number): "\(number)"
    case .double(let number): number.isFinite ? "\(number)" : "null"
    case .string(let text): _quoted(text)
    case .data(let data): "\"\(data.base64EncodedString())\""
    case .uuid(let uuid): "\"\(uuid.uuidString)\""
    case .decimal(let box): "\"\(box.decimal)\""
    case .reference(let key): "\"\(key.space.layout.entityName)/p\(key.reference)\""
    case .pending(let id): _name(id)
    case .toMany(let delta):
      if let order = delta.order {
        "{\"order\":[\(order.map(_name).joined(separator: ","))]}"
      } else {
        "{\"add\":[\(delta.added.map(_name).joined(separator: ","))],\"remove\":[\(delta.removed.map(_name).joined(separator: ","))]}"
      }
    }
  }

  private func _quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 0x20: result += String(format: "\\u%04x", scalar.value)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
