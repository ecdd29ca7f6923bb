import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation
import Synchronization

/// The recording of what a program's contexts do, if its environment names a file for it.
///
/// ```
/// COREDATA_RECORD=trace-%p.ndjson ./App
/// ```
///
/// `%p` is the process's number. Values are recorded with `COREDATA_RECORD_VALUES=1` only. Each thread keeps its events, a thread
/// in the background writes them twice a second, and what is left is written when the program ends. May be used on any thread.
final class TraceRecorder: Sendable {
  /// Nil unless the program is recorded.
  static let current = TraceRecorder(ProcessInfo.processInfo.environment)

  let recordsValues: Bool
  let names = TraceNames()
  private let _rings = TraceRings()
  private let _writer: Mutex<TraceWriter>

  /// - Parameter environment: With a path in `COREDATA_RECORD`. If the file cannot be created, that is logged.
  init?(_ environment: [String: String]) {
    guard let path = environment["COREDATA_RECORD"], !path.isEmpty else { return nil }
    let file = path.replacing("%p", with: String(getpid()))
    // Only for its user: names tell of the program, and values of its data.
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      Console.warn(
        "COREDATA_RECORD: '\(file)' cannot be created: \(String(cString: strerror(errno))). Nothing is recorded."
      )
      return nil
    }
    recordsValues = environment["COREDATA_RECORD_VALUES"] == "1"
    _writer = Mutex(TraceWriter(descriptor, recordsValues: recordsValues))
    let thread = Thread { [weak self] in
      // Of this thread: below what the program does.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      while true {
        usleep(500_000)
        guard let self else { return }
        write()
      }
    }
    thread.name = "Core Data recording"
    thread.start()
    atexit { TraceRecorder.current?.write() }
  }

  /// Nanoseconds of the monotonic clock.
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Adds an event that ends now.
  func add(_ kind: TraceEvent.Kind, since begin: UInt64, in context: NSManagedObjectContext) {
    let number = _number(of: context)
    _rings.current.add(
      TraceEvent(begin: begin, nanoseconds: Self.now - begin, context: number, kind: kind))
  }

  /// Adds an event that takes no time of its own.
  func add(_ kind: TraceEvent.Kind, in context: NSManagedObjectContext) {
    _rings.current.add(
      TraceEvent(begin: Self.now, nanoseconds: 0, context: _number(of: context), kind: kind))
  }

  /// Writes all events so far.
  func write() {
    _writer.withLock { writer in
      for ring in _rings.all {
        let taken = ring.take()
        writer.write(taken.events, thread: taken.thread, dropped: taken.dropped, names)
      }
      writer.flush()
    }
  }

  // MARK: Names

  /// The number of a context, which is told of when it, or a child, first does something. On any queue.
  private func _number(of context: NSManagedObjectContext) -> Int {
    let known = context.traceNumber.load(ordering: .acquiring)
    if known != 0 { return known }
    let number = names.newContext()
    let (isFirst, other) = context.traceNumber.compareExchange(
      expected: 0, desired: number, ordering: .acquiringAndReleasing)
    guard isFirst else { return other }
    let role =
      switch context._concurrencyType {
      case .mainQueueConcurrencyType: "main"
      case .privateQueueConcurrencyType: "private"
      default: "confinement"
      }
    // The parent is set before either is used.
    let parent = context._parent.map { _number(of: $0) } ?? 0
    _rings.current.add(
      TraceEvent(
        begin: Self.now, nanoseconds: 0, context: number, kind: .context(role: role, parent: parent)))
    return number
  }

  func identity(_ id: NSManagedObjectID) -> TraceEvent.Identity {
    let id = id.canonical
    return TraceEvent.Identity(
      entity: names.number(of: id.space.layout), isTemporary: id.isTemporary, reference: id.reference)
  }

  /// The identity that an object had before it was saved.
  func temporaryIdentity(_ id: NSManagedObjectID) -> TraceEvent.Identity {
    TraceEvent.Identity(entity: names.number(of: id.space.layout), isTemporary: true, reference: id.reference)
  }

  func identity(_ key: ObjectKey) -> TraceEvent.Identity {
    TraceEvent.Identity(
      entity: names.number(of: key.space.layout), isTemporary: false, reference: key.reference)
  }

  func identities(_ objects: [NSManagedObject]) -> [TraceEvent.Identity] {
    objects.isEmpty ? [] : objects.map { identity($0._objectID) }
  }

  func identities(_ ids: [NSManagedObjectID]) -> [TraceEvent.Identity] {
    ids.isEmpty ? [] : ids.map(identity)
  }

  func shape(of request: AnyFetchRequest, _ layout: PropertyLayout) -> Int {
    guard let comparison = (request.predicate as? NSComparisonPredicate)?.templated,
      request.sortDescriptors?.isEmpty != false, request.relationshipKeyPathsForPrefetching == nil
    else { return _shape(of: request, layout) }
    // Most requests that are made many times compare one key with a value.
    let short = TraceNames.ShortShape(
      template: ObjectIdentifier(comparison.template), kind: comparison.kind,
      entity: names.number(of: layout),
      result: request.resultType.rawValue, limit: request.fetchLimit, offset: request.fetchOffset,
      batch: request.fetchBatchSize)
    if let known = names.number(of: short) { return known }
    let number = _shape(of: request, layout)
    names.add(number, of: short, keeping: comparison.template)
    return number
  }

  private func _shape(of request: AnyFetchRequest, _ layout: PropertyLayout) -> Int {
    let tree = request.predicate?.treeOfFormat
    let shape = TraceNames.Shape(
      entity: names.number(of: layout), result: request.resultType.rawValue, limit: request.fetchLimit,
      offset: request.fetchOffset, batch: request.fetchBatchSize,
      predicate: tree.map { PredicateShape.taking($0).shape },
      sort: (request.sortDescriptors ?? []).map { ($0.ascending ? "" : "-") + ($0.key ?? "?") },
      prefetch: request.relationshipKeyPathsForPrefetching ?? [])
    return names.number(of: shape, tree)
  }
}
