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

/// The registrars of observed objects and the values read. Stored in a side table because few objects have
/// one; an object has the flag `observed` as long as it has a registrar.
enum ObservationRegistrars {
  private struct Observed: @unchecked Sendable {
    // Unchecked: an object's values are accessed on its context's queue only.
    let registrar = ObservationRegistrar()
    var reads: [Int: ObservedValue] = [:]
  }

  private static let _observed = Mutex<[ObjectIdentifier: Observed]>([:])

  /// Returns the registrar of an object and creates it on demand.
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

  /// Removes the registrar of an object on its deinit.
  static func forget(_ object: NSManagedObject) {
    let identity = ObjectIdentifier(object)
    // Released outside the lock: a deinit may run arbitrary code.
    let observed = _observed.withLock { $0.removeValue(forKey: identity) }
    withExtendedLifetime(observed) {}
  }
}
