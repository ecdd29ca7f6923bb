import Observation
import Synchronization

/// What a property showed when it was read inside `withObservationTracking`.
enum ObservedValue {
  case cell(Value)
  /// Members of a to-many, by identity: recording them keeps none alive.
  case members([ObjectIdentifier])
  /// Not at hand.
  case unknown
}

/// The registrars of observed objects, and what was read of these. They stand here, and not in the objects,
/// because next to none has one: an object has the flag `observed` as long as its registrar is here.
enum ObservationRegistrars {
  private struct Observed: @unchecked Sendable {
    // Unchecked: the values of an object are written and read on its context's queue.
    let registrar = ObservationRegistrar()
    var reads: [Int: ObservedValue] = [:]
  }

  private static let _observed = Mutex<[ObjectIdentifier: Observed]>([:])

  /// The registrar of an object, made if it has none yet.
  ///
  /// - Parameter value: What the property at `slot` shows now.
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

  /// What was read of an object, by slot.
  static func reads(of object: NSManagedObject) -> [Int: ObservedValue] {
    let identity = ObjectIdentifier(object)
    return _observed.withLock { $0[identity] ?? Observed() }.reads
  }

  /// Lets go of the registrar of an object that is going.
  static func forget(_ object: NSManagedObject) {
    let identity = ObjectIdentifier(object)
    // Released outside of the lock: a deinitialiser may run any code.
    let observed = _observed.withLock { $0.removeValue(forKey: identity) }
    withExtendedLifetime(observed) {}
  }
}
