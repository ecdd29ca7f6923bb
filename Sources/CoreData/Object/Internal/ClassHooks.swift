/// The engine's hooks that a subclass overrides.
///
/// Most classes override at most one. A save that knows which can skip boxing every value for a validation
/// method that does nothing. Swift does not expose overrides, but the ``MethodTable`` does: an entry equal to
/// that of `NSManagedObject` is not overridden. If a table looks unexpected, all hooks count as overridden,
/// which is slower but correct. `ClassHooksTests` verifies this for each toolchain.
struct ClassHooks: OptionSet, Sendable {
  let rawValue: UInt16

  static let validateValue = ClassHooks(rawValue: 1 << 0)
  static let validateForInsert = ClassHooks(rawValue: 1 << 1)
  static let validateForUpdate = ClassHooks(rawValue: 1 << 2)
  static let validateForDelete = ClassHooks(rawValue: 1 << 3)
  static let willSave = ClassHooks(rawValue: 1 << 4)
  static let didSave = ClassHooks(rawValue: 1 << 5)
  static let awakeFromInsert = ClassHooks(rawValue: 1 << 6)

  /// The hooks that a save calls on each object before writing it.
  static let beforeSaving: ClassHooks = [
    .validateValue, .validateForInsert, .validateForUpdate, .validateForDelete, .willSave,
  ]

  init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Finds the hooks that a class or one of its superclasses overrides.
  init(of type: NSManagedObject.Type) {
    self = []
    guard type != NSManagedObject.self else { return }
    let own = MethodTable(type)
    let base = MethodTable(NSManagedObject.self)
    for (hook, entry) in Self._entries where entry.map({ own[$0] != base[$0] }) ?? true { insert(hook) }
  }

  /// Index of each hook in the table; nil if undetermined.
  private static let _entries: [(ClassHooks, Int?)] = [
    (.validateValue, _entry(ValidatesValue.self)),
    (.validateForInsert, _entry(ValidatesForInsert.self)),
    (.validateForUpdate, _entry(ValidatesForUpdate.self)),
    (.validateForDelete, _entry(ValidatesForDelete.self)),
    (.willSave, _entry(WillSave.self)),
    (.didSave, _entry(DidSave.self)),
    (.awakeFromInsert, _entry(AwakeFromInsert.self)),
  ]

  private static func _entry(_ type: NSManagedObject.Type) -> Int? {
    MethodTable(NSManagedObject.self).entry(overriddenBy: type, comparedWith: OverridesNothing.self)
  }
}

// Classes to compare; never instantiated.

private class OverridesNothing: NSManagedObject {}

private class ValidatesValue: NSManagedObject {
  override func validateValue(_ value: inout Any?, forKey key: String) throws { fatalError("\(Self.self)") }
}

private class ValidatesForInsert: NSManagedObject {
  override func validateForInsert() throws { fatalError("\(Self.self)") }
}

private class ValidatesForUpdate: NSManagedObject {
  override func validateForUpdate() throws { fatalError("\(Self.self)") }
}

private class ValidatesForDelete: NSManagedObject {
  override func validateForDelete() throws { fatalError("\(Self.self)") }
}

private class WillSave: NSManagedObject {
  override func willSave() { fatalError("\(Self.self)") }
}

private class AwakeFromInsert: NSManagedObject {
  override func awakeFromInsert() { fatalError("\(Self.self)") }
}

private class DidSave: NSManagedObject {
  override func didSave() { fatalError("\(Self.self)") }
}
