import CoreDataToolKit

/// The events of a recording in lanes: one for each context, of which each is an importing context of a design but main's.
struct ReplayPlan: Sendable {
  /// What one context of the recording has done.
  struct Lane: Sendable, Hashable {
    let context: Trace.ContextID
    /// Whether main does it.
    let isMain: Bool
  }

  struct Step: Sendable {
    let event: Trace.Event
    /// The place of its lane.
    let lane: Int
    /// How many steps have ended before it has.
    let rank: Int
    /// How many steps had ended when it began.
    let after: Int
    let isLastOfLane: Bool
  }

  let lanes: [Lane]
  /// In the order in which they begin, those of a lane one after the other.
  let steps: [Step]
  /// What no design does as it was recorded, with the reason.
  let leftOut: [String: Int]
  /// The unsaved objects that later steps lead to.
  let wanted: Set<String>
  let begin: Double

  var count: Int { steps.count }

  init(_ trace: Trace) {
    let parents = Set(trace.contexts.values.compactMap(\.parent))
    var events: [(event: Trace.Event, lane: Lane)] = []
    var leftOut: [String: Int] = [:]
    var changed: Set<Trace.ContextID> = []
    // Earlier than others that end at the same time if the recording has it earlier.
    for event in trace.events.enumerated().sorted(by: {
      ($0.element.end, $0.offset) < ($1.element.end, $1.offset)
    })
    .map(\.element) {
      let role = trace.contexts[event.context]?.role ?? .private
      let lane = Lane(
        context: event.context, isMain: role == .main || (role == .confinement && event.isOnMain))
      switch event.kind {
      case .merge: continue
      case .execute(let request):
        leftOut["requests of \(request), of which only the time is recorded", default: 0] += 1
        continue
      // A level that only hands up what is below: the design has levels of its own.
      case .save(let changes, _, _, _) where changes.isEmpty && !changed.contains(event.context): continue
      case .fault where !lane.isMain && parents.contains(event.context): continue
      case .save(_, _, _, nil), .reset, .rollback: changed.remove(event.context)
      case .changes: changed.insert(event.context)
      case .fetch, .count, .fault, .members, .save: break
      }
      events.append((event._renamed(in: event.context.process, trace.formerNames), lane))
    }
    (lanes, steps) = Self._steps(events)
    self.leftOut = leftOut
    var wanted: Set<String> = []
    for (event, _) in events { event._forEachName { if $0.contains("/t") { wanted.insert($0) } } }
    self.wanted = wanted
    begin = trace.events.map(\.begin).min() ?? 0
  }

  /// - Parameter events: By their ends.
  private static func _steps(
    _ events: [(event: Trace.Event, lane: Lane)]
  ) -> (lanes: [Lane], steps: [Step]) {
    var lanes: [Lane] = []
    var numbers: [Lane: Int] = [:]
    var begins: [Double] = []
    var lasts: [Int] = []
    var order: [(begin: Double, rank: Int, lane: Int)] = []
    for (rank, (event, lane)) in events.enumerated() {
      let number = numbers[lane] ?? lanes.count
      if number == lanes.count {
        numbers[lane] = number
        lanes.append(lane)
        begins.append(0)
        lasts.append(0)
      }
      // What a save has announced or fetched while it ran comes before its writing.
      begins[number] = max(begins[number], event.begin)
      lasts[number] = rank
      order.append((begins[number], rank, number))
    }
    order.sort { ($0.begin, $0.rank) < ($1.begin, $1.rank) }
    let ends = events.map(\.event.end)
    let steps = order.map { _, rank, lane in
      let begin = events[rank].event.begin
      return Step(
        event: events[rank].event, lane: lane, rank: rank,
        after: min(rank, ends._countOfFirst { $0 <= begin }),
        isLastOfLane: lasts[lane] == rank)
    }
    return (lanes, steps)
  }
}

extension Array {
  /// The number of elements at the start that meet a condition, which those after them do not.
  fileprivate func _countOfFirst(_ condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Trace.Event {
  /// The event with the names that objects had first.
  fileprivate func _renamed(in process: Int, _ formerNames: [String: String]) -> Trace.Event {
    func name(_ name: String) -> String { formerNames[name] ?? Trace.unsavedName(name, in: process) }
    var event = self
    switch kind {
    case .fetch(let request, let found, let ids, let predicate):
      event.kind = .fetch(request, found: found, ids: ids.map(name), predicate: predicate)
    case .fault(let id, let rows): event.kind = .fault(name(id), rows: rows)
    case .members(let id, let relationship, let found):
      event.kind = .members(name(id), relationship: relationship, found: found)
    case .changes(let changes): event.kind = .changes(Self._renamed(changes, name))
    case .save(let changes, let objects, let toStore, let error):
      event.kind = .save(Self._renamed(changes, name), objects: objects, toStore: toStore, error: error)
    default: break
    }
    return event
  }

  private static func _renamed(_ changes: [Trace.Change], _ name: (String) -> String) -> [Trace.Change] {
    changes.map { change in
      var change = change
      change.id = name(change.id)
      change.values = change.values?.map {
        Trace.JSONMember(name: $0.name, value: _renamed($0.value, name))
      }
      return change
    }
  }

  private static func _renamed(_ value: JSONValue, _ name: (String) -> String) -> JSONValue {
    switch value {
    case .string(let text): .string(name(text))
    case .array(let elements): .array(elements.map { _renamed($0, name) })
    case .object(let members):
      .object(members.map { JSONValue.Member(name: $0.name, value: _renamed($0.value, name)) })
    default: value
    }
  }

  /// Calls a body with the names that lead to objects made by others.
  fileprivate func _forEachName(_ body: (String) -> Void) {
    switch kind {
    case .fetch(_, _, let ids, let predicate): if predicate == nil { ids.forEach(body) }
    case .fault(let id, _), .members(let id, _, _): body(id)
    case .changes(let changes), .save(let changes, _, _, _):
      for change in changes {
        if change.kind != .insert { body(change.id) }
        for member in change.values ?? [] { Self._forEachName(member.value, body) }
      }
    default: break
    }
  }

  private static func _forEachName(_ value: JSONValue, _ body: (String) -> Void) {
    switch value {
    case .string(let text): body(text)
    case .array(let elements): for element in elements { _forEachName(element, body) }
    case .object(let members): for member in members { _forEachName(member.value, body) }
    default: break
    }
  }
}
