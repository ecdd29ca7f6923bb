import CoreDataModelSchema
import Observation
import Synchronization

/// Managed objects of main-queue contexts take part in `Observation`: `withObservationTracking` notes the
/// properties read and calls back when one of them changes, by assignment, merge, refresh, rollback or a
/// child's save, or when the object is deleted. A property whose value such a step leaves as it was is not told
/// of, as far as its value is at hand: of an object that has become a fault, all that were read are.
///
/// For other contexts set `NSManagedObjectContext.tracksObservation`. Without tracking nothing is
/// allocated. Differs from `@Observable` classes in that the call comes when the property has its new value
/// already. The class itself does not conform to `Observable`, so that subclasses may declare that they do.
private final class ObservedProperties: Observable, Sendable {
  /// Stands for any object in its registrar, which asks for the type only.
  static let shared = ObservedProperties()

  /// What the key paths given to `Observation` lead to; never read.
  subscript(slot: Int) -> Int { slot }
}

extension NSManagedObjectContext {
  /// Whether property reads of objects registered from now on are recorded by `withObservationTracking`; at
  /// first true for main-queue contexts only. Not in Core Data.
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
  /// Whether this thread is inside `withObservationTracking`. A false yes is possible while another thread is.
  package static var isTrackingReads: Bool { TrackingProbe.isTracking }

  /// Records that a property was read. Tests one bit unless the context takes part in `Observation`.
  @inline(__always)
  final func recordRead(_ slot: Int) {
    if _flags.contains(.recordsReads) { _recordObservedRead(slot) }
  }

  /// Notifies the observers of a changed property. Tests one bit unless the object is observed.
  @inline(__always)
  final func notifyWrite(_ slot: Int) {
    if _flags.contains(.observed) { _notifyObservers(slot) }
  }

  /// Notifies the observers of properties whose values differ from those last read: after a merge, a refresh,
  /// a rollback or a child's save.
  final func notifyChangesSinceRead() {
    guard _flags.contains(.observed) else { return }
    for (slot, read) in ObservationRegistrars.reads(of: self) where mayDiffer(from: read, at: slot) {
      _notifyObservers(slot)
    }
  }

  /// Notifies the observers of every property that was read: the object is about to be deleted.
  final func notifyAllReads() {
    guard _flags.contains(.observed) else { return }
    for (slot, _) in ObservationRegistrars.reads(of: self) { _notifyObservers(slot) }
  }

  @inline(never)
  private final func _recordObservedRead(_ slot: Int) { if TrackingProbe.isTracking { _recordAccess(slot) } }

  @inline(never)
  private final func _recordAccess(_ slot: Int) {
    let registrar = ObservationRegistrars.registrar(for: self, recording: observedValue(at: slot), at: slot)
    _state.observe()
    ObservedObjects.exist.store(true, ordering: .relaxed)
    registrar.access(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
  }

  /// What a property shows, as far as that is at hand.
  private final func observedValue(at slot: Int) -> ObservedValue {
    if _layout.slots[slot].isToMany {
      guard let state = _relations?.members(slot), state.isRealised else { return .unknown }
      return .members(state.list.map(ObjectIdentifier.init))
    }
    guard !isFault, let row = _current else { return .unknown }
    return .cell(row[slot])
  }

  /// Whether a property shows, or will show when it is read, another value than it did.
  private final func mayDiffer(from read: ObservedValue, at slot: Int) -> Bool {
    switch (read, observedValue(at: slot)) {
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
    let registrar = ObservationRegistrars.registrar(for: self, recording: observedValue(at: slot), at: slot)
    registrar.willSet(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
    registrar.didSet(ObservedProperties.shared, keyPath: \ObservedProperties[slot])
  }
}

/// Whether any object of the process has ever been tracked: if not, no look-up is needed.
enum ObservedObjects {
  static let exist = Atomic<Bool>(false)
}

/// Finds out whether the calling thread is inside `withObservationTracking`, which `Observation` does not
/// tell.
///
/// A tracked access puts its key path into a set, which hashes it; an access outside tracking does not. So an
/// access through a key path that counts its hashing tells. Another thread that tracks at the same moment may
/// make the answer a false yes, which costs an object a registrar and nothing else.
private final class TrackingProbe: Sendable {
  /// Empty, so that its metadata are constants.
  private struct Subject: Observable, Sendable {
    subscript(index: Index) -> Int { 0 }
  }

  private struct Index: Hashable {
    static func == (left: Index, right: Index) -> Bool { true }
    func hash(into hasher: inout Hasher) { _hashings.wrappingAdd(1, ordering: .relaxed) }
  }

  private static let _hashings = Atomic<Int>(0)
  /// Made by the first read, and kept for the life of the process. Reads ask for it one by one: a constant would be looked up
  /// through the runtime each time.
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
