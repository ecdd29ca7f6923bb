import CoreDataModelSchema
import Observation
import Synchronization

/// Makes managed objects observable through `Observation`.
///
/// `withObservationTracking` records the properties read and calls back when one of them changes: by
/// assignment, merge, refresh, rollback, a child's save or deletion. An operation that leaves a value equal
/// notifies no observer, provided that the value is in memory. If the object has become a fault, observers of
/// all recorded properties are notified.
///
/// On by default for main-queue contexts only; see `NSManagedObjectContext.tracksObservation`. Allocates
/// nothing unless reads are tracked. Unlike with `@Observable` classes, the callback runs after the property
/// has its new value. `NSManagedObject` does not conform to `Observable`, so subclasses can.
private final class ObservedProperties: Observable, Sendable {
  /// The subject passed to every registrar, which uses only its type.
  static let shared = ObservedProperties()

  /// The target of key paths passed to `Observation`; never read.
  subscript(slot: Int) -> Int { slot }
}

extension NSManagedObjectContext {
  /// Whether `withObservationTracking` records property reads of objects registered from now on. True by
  /// default for main-queue contexts only. Not in Core Data.
  ///
  /// ```swift
  /// import Observation
  ///
  /// background.tracksObservation = true
  /// await background.perform {
  ///   guard let book = try? background.fetch(Book.fetchRequest()).first else { return }
  ///   withObservationTracking {
  ///     print(book.title ?? "")
  ///   } onChange: {
  ///     print("The title is another one.")
  ///   }
  /// }
  /// ```
  public final var tracksObservation: Bool {
    get { recordsReads }
    set { recordsReads = newValue }
  }
}

extension NSManagedObject {
  /// Whether this thread is inside `withObservationTracking`. May be a false positive while another thread
  /// is.
  package static var isTrackingReads: Bool { TrackingProbe.isTracking }

  /// Records a read of a property. Tests one bit if the context does not track observation.
  @inline(__always)
  final func recordRead(_ slot: Int) {
    if _flags.contains(.recordsReads) { _recordObservedRead(slot) }
  }

  /// Notifies the observers of a changed property. Tests one bit if the object is not observed.
  @inline(__always)
  final func notifyWrite(_ slot: Int) {
    if _flags.contains(.observed) { _notifyObservers(slot) }
  }

  /// Notifies the observers of a property that is about to change.
  package final func notifyWrite(forKey key: String) {
    guard _flags.contains(.observed), let slot = _layout.slot(named: key) else { return }
    _notifyObservers(slot)
  }

  /// Notifies the observers of properties whose values differ from those last read. Called after a merge,
  /// refresh, rollback or child's save.
  final func notifyChangesSinceRead() {
    guard _flags.contains(.observed) else { return }
    for (slot, read) in ObservationRegistrars.reads(of: self) where _mayDiffer(from: read, at: slot) {
      _notifyObservers(slot)
    }
  }

  /// Notifies the observers of all recorded properties before the object is deleted.
  final func notifyAllReads() {
    guard _flags.contains(.observed) else { return }
    for (slot, _) in ObservationRegistrars.reads(of: self) { _notifyObservers(slot) }
  }

  @inline(never)
  private final func _recordObservedRead(_ slot: Int) { if TrackingProbe.isTracking { _recordAccess(slot) } }

  @inline(never)
  private final func _recordAccess(_ slot: Int) {
    let registrar = ObservationRegistrars.registrar(for: self, recording: _observedValue(at: slot), at: slot)
    _state.observe()
    ObservedObjects.exist.store(true, ordering: .relaxed)
    registrar.access(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
  }

  /// Returns a property's value to compare later, if it is in memory.
  private final func _observedValue(at slot: Int) -> ObservedValue {
    if _layout.slots[slot].isToMany {
      guard let state = _relations?.members(slot), state.isRealised else { return .unknown }
      return .members(state.list.map(ObjectIdentifier.init))
    }
    guard !isFault, let row = _current else { return .unknown }
    return .cell(row[slot])
  }

  /// Whether a property may have a value other than the recorded one.
  private final func _mayDiffer(from read: ObservedValue, at slot: Int) -> Bool {
    switch (read, _observedValue(at: slot)) {
    case (.cell(let old), .cell(let new)): return old != new
    case (.members(let old), .members(let new)):
      return _layout.slots[slot].relationship!.isOrdered ? old != new : Set(old) != Set(new)
    case (.members, .unknown):
      return _context?.events.mergedSlots[ObjectIdentifier(self)]?.contains(slot) ?? true
    default: return true
    }
  }

  @inline(never)
  private final func _notifyObservers(_ slot: Int) {
    let registrar = ObservationRegistrars.registrar(for: self, recording: _observedValue(at: slot), at: slot)
    registrar.willSet(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
    registrar.didSet(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
  }
}

/// Whether the process has ever tracked an object. Otherwise look-ups are skipped.
enum ObservedObjects {
  static let exist = Atomic<Bool>(false)
}

/// Detects whether the calling thread is inside `withObservationTracking`, which `Observation` does not
/// expose.
///
/// A tracked access inserts its key path into a set and therefore hashes it; an untracked access does not.
/// The probe accesses a key path that counts how often it is hashed. A concurrent access by another thread
/// may cause a false positive, which costs the object an unneeded registrar.
private final class TrackingProbe: Sendable {
  /// Empty, so that its metadata is constant.
  private struct Subject: Observable, Sendable {
    subscript(index: Index) -> Int { 0 }
  }

  private struct Index: Hashable {
    static func == (left: Index, right: Index) -> Bool { true }
    func hash(into hasher: inout Hasher) { _hashings.wrappingAdd(1, ordering: .relaxed) }
  }

  private static let _hashings = Atomic<Int>(0)
  /// The only instance, created by the first read and never released. An atomic, because access to a lazily
  /// initialized constant goes through the runtime each time.
  private static let _shared = Atomic<Unmanaged<TrackingProbe>?>(nil)

  private let _registrar = ObservationRegistrar()
  // Immutable; key paths are not marked Sendable.
  nonisolated(unsafe) private let _path: KeyPath<Subject, Int> = \Subject[Index()]

  private init() {}

  @inline(never) private static func _make() -> Unmanaged<TrackingProbe> {
    let made = Unmanaged.passRetained(TrackingProbe())
    let (isFirst, known) = _shared.compareExchange(
      expected: nil, desired: made, ordering: .acquiringAndReleasing)
    if isFirst { return made }
    made.release()
    return known!
  }

  @inline(__always) static var isTracking: Bool {
    (_shared.load(ordering: .acquiring) ?? _make())._withUnsafeGuaranteedRef { probe in
      let before = _hashings.load(ordering: .relaxed)
      probe._registrar.access(Subject(), keyPath: probe._path)
      return _hashings.load(ordering: .relaxed) != before
    }
  }
}
