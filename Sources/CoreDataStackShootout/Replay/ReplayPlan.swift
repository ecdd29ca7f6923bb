import CoreDataToolKit

/// The events of a recording as two lanes: what main did, and what all other contexts did, which the importing context of a
/// design does in their place.
struct ReplayPlan: Sendable {
  enum Lane: Int, Sendable { case main, importing }

  struct Step: Sendable {
    let event: Trace.Event
    /// How many steps of the other lane had ended when this one began.
    let after: Int
  }

  let main: [Step]
  let importing: [Step]
  /// What no design does as it was recorded, with the reason.
  let leftOut: [String: Int]
  /// The unsaved objects that later steps lead to.
  let wanted: Set<String>
  let begin: Double

  var count: Int { main.count + importing.count }

  init(_ trace: Trace) {
    let parents = Set(trace.contexts.values.compactMap(\.parent))
    var lanes: (main: [Trace.Event], importing: [Trace.Event]) = ([], [])
    var leftOut: [String: Int] = [:]
    var changed: Set<Trace.ContextID> = []
    // Another context's unsaved changes must stay.
    let changing = Set(trace.events.compactMap { if case .changes = $0.kind { $0.context } else { nil } })
    let hasSeveral = changing.count { trace.contexts[$0]?.role != .main } > 1
    for event in trace.events {
      let role = trace.contexts[event.context]?.role ?? .private
      let isMain = role == .main || (role == .confinement && event.isOnMain)
      switch event.kind {
      case .merge: continue
      case .execute(let request):
        leftOut["requests of \(request), of which only the time is recorded", default: 0] += 1
      // A level that only hands up what is below: the design has levels of its own.
      case .save(let changes, _, _, _) where changes.isEmpty && !changed.contains(event.context): continue
      case .save(_, _, _, .some): leftOut["saves that had failed", default: 0] += 1
      case .reset where !isMain: leftOut["resets of background contexts, which are one here", default: 0] += 1
      case .rollback where !isMain && hasSeveral:
        leftOut["rollbacks of background contexts, which are one here", default: 0] += 1
      case .fetch, .count, .fault, .members, .changes, .save, .reset, .rollback:
        switch event.kind {
        case .changes: changed.insert(event.context)
        case .save, .reset, .rollback: changed.remove(event.context)
        default: break
        }
        if !isMain, parents.contains(event.context), case .fault = event.kind { continue }
        if isMain { lanes.main.append(event) } else { lanes.importing.append(event) }
      }
    }
    let named = { (name: String) in trace.formerNames[name] ?? name }
    lanes.main = lanes.main.map { $0._renamed(named) }
    lanes.importing = lanes.importing.map { $0._renamed(named) }
    main = Self._steps(lanes.main, beside: lanes.importing)
    importing = Self._steps(lanes.importing, beside: lanes.main)
    self.leftOut = leftOut
    var wanted: Set<String> = []
    for event in lanes.main + lanes.importing {
      event._forEachName { if $0.contains("/t") { wanted.insert($0) } }
    }
    self.wanted = wanted
    begin = trace.events.map(\.begin).min() ?? 0
  }

  private static func _steps(_ events: [Trace.Event], beside others: [Trace.Event]) -> [Step] {
    var count = 0
    return events.map { event in
      while count < others.count, others[count].end <= event.begin { count += 1 }
      return Step(event: event, after: count)
    }
  }
}

extension Trace.Event {
  /// The event with other names of its objects.
  fileprivate func _renamed(_ name: (String) -> String) -> Trace.Event {
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
