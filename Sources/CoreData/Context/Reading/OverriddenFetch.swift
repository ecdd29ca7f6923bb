import Synchronization

/// Leads every fetch of a context whose class overrides the untyped `fetch(_:)` through that override.
///
/// The generic `fetch(_:)` is what a call with an untyped request chooses, since its result is
/// `[any NSFetchRequestResult]`, and so does `super.fetch(_:)` in an override of the untyped one. A call from
/// outside must reach the override, the call with `super` must not come back to it, and the generic method
/// cannot tell them apart. The method tables can: `super` calls the entry of the superclass, a call from
/// outside that of the instance's own class. So a class that overrides the untyped method, and not the
/// generic one, gets a generic one that calls the override, as if the class had declared it.
enum OverriddenFetch {
  /// The classes that have been looked at.
  private static let _known = Mutex<Set<ObjectIdentifier>>([])

  /// Called for each new context, before anybody can call its methods.
  static func connect(_ type: NSManagedObjectContext.Type) {
    guard type != NSManagedObjectContext.self else { return }
    _known.withLock { known in
      guard known.insert(ObjectIdentifier(type)).inserted else { return }
      let base = MethodTable(NSManagedObjectContext.self)
      let own = MethodTable(type)
      guard let untyped = entries.untyped, let generic = entries.generic else {
        return Console.warn(
          "This version of Swift lays out the class \(type) in an unknown way. If the class overrides fetch(_:), "
            + "fetches with an untyped request do not call the override. Please report the version.")
      }
      guard own[untyped] != base[untyped], own[generic] == base[generic] else { return }
      own[generic] = MethodTable(FetchesThroughOverride.self)[generic]
    }
  }

  /// Index of both methods in the table; nil if undetermined.
  static let entries: (untyped: Int?, generic: Int?) = {
    let base = MethodTable(NSManagedObjectContext.self)
    return (
      base.entry(overriddenBy: OverridesUntyped.self, comparedWith: OverridesNothing.self),
      base.entry(overriddenBy: FetchesThroughOverride.self, comparedWith: OverridesNothing.self)
    )
  }()
}

/// The untyped `fetch(_:)` under a protocol where no other method of this name hides it.
private protocol UntypedFetching: AnyObject {
  func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any]
}

extension NSManagedObjectContext: UntypedFetching {
  /// Fetches. In a subclass, a typed request goes through the untyped `fetch(_:)`, which test doubles
  /// override. An untyped request comes from there, or from a class that does not override it
  /// (``OverriddenFetch``).
  final func fetchOverridably<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    if type(of: self) == NSManagedObjectContext.self || T.self == (any NSFetchRequestResult).self {
      return try FetchPass(self).results(request)
    }
    return try fetchThroughUntyped(request)
  }

  /// Counts. In a subclass, goes through the untyped `count(for:)`, which it may override.
  final func countOverridably<T>(_ request: NSFetchRequest<T>) throws -> Int {
    if type(of: self) == NSManagedObjectContext.self { return try FetchPass(self).count(for: request) }
    return try request.untyped { try count(for: $0) }
  }

  /// Fetches through the untyped `fetch(_:)` of the context's class.
  ///
  /// Not optimized: knowing the class of the caller, the optimizer would call the method of that class.
  @inline(never) @_optimize(none)
  final func fetchThroughUntyped<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    try FetchPass(self).cast(request.untyped { try (self as any UntypedFetching).fetch($0) }, request)
  }
}

// Classes to compare and to take the method from; never instantiated.

private class OverridesNothing: NSManagedObjectContext, @unchecked Sendable {}

private class OverridesUntyped: NSManagedObjectContext, @unchecked Sendable {
  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    fatalError("\(Self.self)")
  }
}

private class FetchesThroughOverride: NSManagedObjectContext, @unchecked Sendable {
  override func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] { try fetchThroughUntyped(request) }
}
