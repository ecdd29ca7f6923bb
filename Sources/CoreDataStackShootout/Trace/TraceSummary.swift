/// What a recording says about the time that a program spends in Core Data, and what would save some of it.
struct TraceSummary: Sendable {
  /// The fetches and counts of one request.
  struct Fetches: Sendable {
    let request: Trace.Request
    let isCount: Bool
    var count = 0
    var onMain = 0
    var milliseconds = 0.0
    var worst = 0.0
    var most = 0
    /// A predicate with values, if they are recorded.
    var example: String?
    /// The most fetches in a row of one context, with nothing but faults in between.
    var inARow = 0
  }

  /// Faults of one kind that followed a fetch, one by one.
  struct Faults: Sendable, Hashable {
    let fetched: String
    /// The entity of the objects that were read one by one, or the to-many whose members were.
    let read: String
    let isToMany: Bool
  }

  struct Costs: Sendable {
    var count = 0
    var milliseconds = 0.0
    var worst = 0.0
    var objects = 0

    mutating func add(_ milliseconds: Double, objects: Int) {
      count += 1
      self.milliseconds += milliseconds
      worst = max(worst, milliseconds)
      self.objects += objects
    }
  }

  private(set) var seconds = 0.0
  private(set) var events = 0
  /// Milliseconds on the main thread, and the longest of them.
  private(set) var main = Costs()
  private(set) var fetches: [Fetches] = []
  private(set) var faults: [(Faults, Costs)] = []
  private(set) var savesOnMain = Costs()
  /// Those that write to a store.
  private(set) var storesOnMain = Costs()
  private(set) var savesElsewhere = Costs()
  private(set) var mergesOnMain = Costs()
  /// Requests that are no fetches, by their class.
  private(set) var executed: [String: Costs] = [:]

  /// How many of a kind in a row are one by one.
  static let few = 5

  init(_ trace: Trace) {
    events = trace.events.count
    seconds = (trace.events.last?.end ?? 0) - (trace.events.map(\.begin).min() ?? 0)
    var groups: [Trace.Request: [Bool: Fetches]] = [:]
    var rows: [Trace.ContextID: (request: Trace.Request, isCount: Bool, count: Int)] = [:]
    var lastFetch: [Trace.ContextID: String] = [:]
    var runs: [Trace.ContextID: (faults: Faults, costs: Costs)] = [:]
    var found: [Faults: Costs] = [:]
    func end(_ context: Trace.ContextID) {
      guard let run = runs.removeValue(forKey: context), run.costs.count >= Self.few else { return }
      var sum = found[run.faults] ?? Costs()
      sum.count += run.costs.count
      sum.milliseconds += run.costs.milliseconds
      sum.worst = max(sum.worst, run.costs.worst)
      sum.objects += run.costs.objects
      found[run.faults] = sum
    }
    for event in trace.events {
      if event.isOnMain { main.add(event.milliseconds, objects: 0) }
      let context = event.context
      switch event.kind {
      case .fetch(let request, let count, _, let text), .count(let request, let count, let text):
        let isCount = if case .count = event.kind { true } else { false }
        var group = groups[request]?[isCount] ?? Fetches(request: request, isCount: isCount)
        group.count += 1
        if event.isOnMain { group.onMain += 1 }
        group.milliseconds += event.milliseconds
        group.worst = max(group.worst, event.milliseconds)
        group.most = max(group.most, count)
        if group.example == nil { group.example = text }
        let last = rows[context]
        let row = last?.request == request && last?.isCount == isCount ? (last?.count ?? 0) + 1 : 1
        rows[context] = (request, isCount, row)
        group.inARow = max(group.inARow, row)
        groups[request, default: [:]][isCount] = group
        end(context)
        if !isCount { lastFetch[context] = request.entity }
      case .fault(_, let read) where read > 1:
        // A page of a list, or neighbours that were read along.
        end(context)
      case .fault(let id, let read):
        let faults = Faults(
          fetched: lastFetch[context] ?? "", read: Self._entity(id), isToMany: false)
        if runs[context]?.faults != faults { end(context) }
        var costs = runs[context]?.costs ?? Costs()
        costs.add(event.milliseconds, objects: read)
        runs[context] = (faults, costs)
      case .members(let id, let relationship, let read):
        let faults = Faults(fetched: Self._entity(id), read: relationship, isToMany: true)
        if runs[context]?.faults != faults { end(context) }
        var costs = runs[context]?.costs ?? Costs()
        costs.add(event.milliseconds, objects: read)
        runs[context] = (faults, costs)
      case .save(_, let objects, let toStore, _):
        end(context)
        if event.isOnMain {
          savesOnMain.add(event.milliseconds, objects: objects)
          if toStore { storesOnMain.add(event.milliseconds, objects: objects) }
        } else {
          savesElsewhere.add(event.milliseconds, objects: objects)
        }
      case .execute(let request):
        end(context)
        executed[request, default: Costs()].add(event.milliseconds, objects: 0)
      case .changes: break
      case .merge(let objects):
        if event.isOnMain { mergesOnMain.add(event.milliseconds, objects: objects) }
      case .reset, .rollback: end(context)
      }
    }
    for context in Array(runs.keys) { end(context) }
    fetches = groups.values.flatMap(\.values).sorted { $0.milliseconds > $1.milliseconds }
    faults = found.map { ($0.key, $0.value) }.sorted { $0.1.milliseconds > $1.1.milliseconds }
  }

  private static func _entity(_ id: String) -> String { String(id.prefix { $0 != "/" }) }
}
