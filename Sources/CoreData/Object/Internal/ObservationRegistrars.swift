import Observation
import Synchronization

/// The value of a property when it was read inside `withObservationTracking`.
enum ObservedValue {
  case cell(Value)
  /// Members of a to-many, by identity, without retaining them.
  case members([ObjectIdentifier])
  /// Not in memory.
  case unknown
}

/// The registrars of observed objects, with the values last read. A side table, because few objects are
/// observed. The flag `observed` of an object is set while the table has an entry for it.
enum ObservationRegistrars {
  private struct Observed: @unchecked Sendable {
    // Unchecked: an object's values are accessed only on its context's queue.
    let registrar = ObservationRegistrar()
    var reads: [Int: ObservedValue] = [:]
  }

  private static let _observed = Mutex<[ObjectIdentifier: Observed]>([:])

  /// Returns the registrar of an object, created on first use, and records the value read.
  ///
  /// - Parameter value: The property's current value.
  static func registrar(
    for object: NSManagedObject, recording value: ObservedValue, at slot: Int
  ) -> ObservationRegistrar {
    let identity = ObjectIdentifier(object)
    let read = Observed(reads: [slot: value])
    return _observed.withLock { observed in
      var entry = observed.removeValue(forKey: identity) ?? Observed()
      entry.reads[slot] = read.reads[slot]
      observed[identity] = entry
      return entry.registrar
    }
  }

  /// Returns the recorded reads of an object, by slot.
  static func reads(of object: NSManagedObject) -> [Int: ObservedValue] {
    let identity = ObjectIdentifier(object)
    return _observed.withLock { $0[identity] ?? Observed() }.reads
  }

  /// Removes the registrar of an object. Called by its deinit.
  static func forget(_ object: NSManagedObject) {
    let identity = ObjectIdentifier(object)
    // Released outside the lock: a deinit may run arbitrary code.
    let observed = _observed.withLock { $0.removeValue(forKey: identity) }
    withExtendedLifetime(observed) {}
  }
}
