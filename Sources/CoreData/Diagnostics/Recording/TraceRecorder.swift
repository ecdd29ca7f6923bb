import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation
import Synchronization

/// The recording of what a program's contexts do, if its environment names a file for it, or a store's options do.
///
/// ```
/// COREDATA_RECORD=trace-%p.ndjson ./App
/// ```
///
/// `%p` is the process's number. Values are recorded with `COREDATA_RECORD_VALUES=1` only. Each thread keeps its events, a thread
/// in the background writes them twice a second, and what is left is written when the recording or the program ends. May be used
/// on any thread.
final class TraceRecorder: Sendable {
  /// What is recorded, and where.
  struct Request {
    /// The file, in whose path `%p` is the process's number.
    var path: String
    var recordsValues = false
    /// The coordinator whose contexts are recorded; nil for all.
    var coordinator: NSPersistentStoreCoordinator?
    /// What messages call the request.
    var source = "COREDATA_RECORD"
  }

  let recordsValues: Bool
  let names = TraceNames()
  private let _path: String
  private let _source: String
  private let _rings = TraceRings()
  private let _writer: Mutex<TraceWriter>
  /// The coordinator whose contexts are recorded; nil for all.
  private let _coordinator: ObjectIdentifier?
  private let _isEnded = Atomic(false)
  /// What the numbers of contexts begin with: a context may have one of an earlier recording.
  private let _generation: Int

  /// If the file cannot be created, that is logged.
  init?(_ request: Request) {
    _path = request.path.replacing("%p", with: String(getpid()))
    // Only for its user: names tell of the program, and values of its data.
    let descriptor = open(_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      Console.warn(
        "\(request.source): '\(_path)' cannot be created: \(String(cString: strerror(errno))). Nothing is recorded."
      )
      return nil
    }
    (recordsValues, _source) = (request.recordsValues, request.source)
    _coordinator = request.coordinator.map(ObjectIdentifier.init)
    _generation = Self._generations.wrappingAdd(1, ordering: .relaxed).newValue << 32
    _writer = Mutex(TraceWriter(descriptor, recordsValues: recordsValues, source: _source))
    let thread = Thread { [weak self] in
      // Of this thread: below what the program does.
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      while true {
        usleep(500_000)
        guard let self, !_isEnded.load(ordering: .relaxed) else { return }
        write()
      }
    }
    thread.name = "Core Data recording"
    thread.start()
  }

  // MARK: The process's recording

  private static let _generations = Atomic(0)
  /// The address of the recorder; 0 unless something is recorded.
  private static let _current = Atomic<UInt>(0)
  private static let _isChanging = Mutex(())

  /// Nil unless something is recorded.
  static var current: TraceRecorder? {
    @inline(__always) get {
      let address = _current.load(ordering: .acquiring)
      return address == 0 ? nil : _recorder(at: address)
    }
  }

  private static func _recorder(at address: UInt) -> TraceRecorder? {
    UnsafeRawPointer(bitPattern: address).map {
      Unmanaged<TraceRecorder>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Begins what the environment asks for, before the first store is opened.
  static let startsAsEnvironmentAsks: Bool = {
    let environment = ProcessInfo.processInfo.environment
    guard let path = environment["COREDATA_RECORD"], !path.isEmpty else { return false }
    start(Request(path: path, recordsValues: environment["COREDATA_RECORD_VALUES"] == "1"))
    return true
  }()

  /// Begins to record, unless something is recorded already, which is logged.
  static func start(_ request: Request) {
    _isChanging.withLock { _ in
      if let current {
        Console.warn(
          "\(request.source): there is a recording already, by \(current._source), to '\(current._path)'. One is made at a time."
        )
        return
      }
      guard let recorder = TraceRecorder(request) else { return }
      _ = _writesAtExit
      // Kept for good: a thread may be using it when it has ended.
      let address = UInt(bitPattern: Unmanaged.passRetained(recorder).toOpaque())
      _current.store(address, ordering: .releasing)
    }
  }

  private static let _writesAtExit: Bool = {
    atexit { TraceRecorder.current?.write() }
    return true
  }()

  /// Ends the recording of a coordinator's contexts, if there is one.
  static func end(of coordinator: NSPersistentStoreCoordinator) {
    guard let current, current._coordinator == ObjectIdentifier(coordinator) else { return }
    _isChanging.withLock { _ in
      guard current === self.current else { return }
      _current.store(0, ordering: .releasing)
    }
    current._end()
  }

  private func _end() {
    guard !_isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    write()
    _writer.withLock { $0.close() }
  }

  /// Nanoseconds of the monotonic clock.
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Adds an event that ends now.
  func add(_ kind: TraceEvent.Kind, since begin: UInt64, in context: NSManagedObjectContext) {
    guard let number = _number(of: context) else { return }
    _rings.current.add(
      TraceEvent(begin: begin, nanoseconds: Self.now - begin, context: number, kind: kind))
  }

  /// Adds an event that takes no time of its own.
  func add(_ kind: TraceEvent.Kind, in context: NSManagedObjectContext) {
    guard let number = _number(of: context) else { return }
    _rings.current.add(TraceEvent(begin: Self.now, nanoseconds: 0, context: number, kind: kind))
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

  private static let _unrecorded = 0xFFFF_FFFF

  /// The number of a context, which is told of when it, or a child, first does something; nil for one that is not recorded. On any
  /// queue.
  private func _number(of context: NSManagedObjectContext) -> Int? {
    let known = context.traceNumber.load(ordering: .acquiring)
    if known & ~Self._unrecorded == _generation { return _recorded(known) }
    let isRecorded = _coordinator.map { $0 == context.rootCoordinator.map(ObjectIdentifier.init) } ?? true
    let number = _generation | (isRecorded ? names.newContext() : Self._unrecorded)
    let (isFirst, other) = context.traceNumber.compareExchange(
      expected: known, desired: number, ordering: .acquiringAndReleasing)
    guard isFirst else { return _recorded(other) }
    guard let number = _recorded(number) else { return nil }
    let role =
      switch context._concurrencyType {
      case .mainQueueConcurrencyType: "main"
      case .privateQueueConcurrencyType: "private"
      default: "confinement"
      }
    // The parent is set before either is used.
    let parent = context._parent.flatMap { _number(of: $0) } ?? 0
    _rings.current.add(
      TraceEvent(
        begin: Self.now, nanoseconds: 0, context: number, kind: .context(role: role, parent: parent)))
    return number
  }

  private func _recorded(_ number: Int) -> Int? {
    let own = number & Self._unrecorded
    return own == Self._unrecorded ? nil : own
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
