import Observation
import Synchronization

/// The registrars of observed objects. They stand here, and not in the objects, because next to none has one:
/// an object has the flag `observed` as long as its registrar is here.
enum ObservationRegistrars {
  private static let _registrars = Mutex<[ObjectIdentifier: ObservationRegistrar]>([:])

  /// The registrar of an object, made if it has none yet.
  static func registrar(for object: NSManagedObject) -> ObservationRegistrar {
    let identity = ObjectIdentifier(object)
    return _registrars.withLock { registrars in
      if let registrar = registrars[identity] { return registrar }
      let registrar = ObservationRegistrar()
      registrars[identity] = registrar
      return registrar
    }
  }

  /// Lets go of the registrar of an object that is going.
  static func forget(_ object: NSManagedObject) {
    let identity = ObjectIdentifier(object)
    // What it holds goes outside of the lock: that may be anybody's.
    let registrar = _registrars.withLock { $0.removeValue(forKey: identity) }
    withExtendedLifetime(registrar) {}
  }
}
