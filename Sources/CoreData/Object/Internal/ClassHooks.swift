/// Which of the hooks that the engine calls a class of the program's own overrides.
///
/// Most classes override none or one, and a save that knows it need not box each value of each object for a
/// method that only hands it on. Swift does not tell, but a class's table of methods does: an entry that is
/// the same as in `NSManagedObject`'s table was not overridden. Where an entry stands is found by comparing
/// two classes that differ in one override; the layout of the table's head is part of Swift's ABI ("Class
/// Metadata" in the type metadata document). If anything looks other than expected, the hook counts as
/// overridden, which is slower and never wrong. `ClassHooksTests` holds this to account for each toolchain.
struct ClassHooks: OptionSet, Sendable {
  let rawValue: UInt16

  static let validateValue = ClassHooks(rawValue: 1 << 0)
  static let validateForInsert = ClassHooks(rawValue: 1 << 1)
  static let validateForUpdate = ClassHooks(rawValue: 1 << 2)
  static let validateForDelete = ClassHooks(rawValue: 1 << 3)
  static let willSave = ClassHooks(rawValue: 1 << 4)
  static let didSave = ClassHooks(rawValue: 1 << 5)
  static let awakeFromInsert = ClassHooks(rawValue: 1 << 6)

  /// What a save asks of each object before it is written.
  static let beforeSaving: ClassHooks = [
    .validateValue, .validateForInsert, .validateForUpdate, .validateForDelete, .willSave,
  ]

  init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The hooks that a class, or a superclass of its own, overrides.
  init(of type: NSManagedObject.Type) {
    self = []
    guard type != NSManagedObject.self else { return }
    let own = MethodTable(type)
    let base = MethodTable(NSManagedObject.self)
    for (hook, entry) in Self._entries where entry.map({ own[$0] != base[$0] }) ?? true { insert(hook) }
  }

  /// Place of each hook in the table; nil if it could not be made out.
  private static let _entries: [(ClassHooks, Int?)] = [
    (.validateValue, _entry(ValidatesValue.self)),
    (.validateForInsert, _entry(ValidatesForInsert.self)),
    (.validateForUpdate, _entry(ValidatesForUpdate.self)),
    (.validateForDelete, _entry(ValidatesForDelete.self)),
    (.willSave, _entry(WillSave.self)),
    (.didSave, _entry(DidSave.self)),
    (.awakeFromInsert, _entry(AwakeFromInsert.self)),
  ]

  /// The one entry in which a class that overrides one method differs from one that overrides none.
  private static func _entry(_ type: NSManagedObject.Type) -> Int? {
    let (base, plain, one) = (
      MethodTable(NSManagedObject.self), MethodTable(OverridesNothing.self), MethodTable(type)
    )
    // Initialisers are each class's own even where nothing is overridden.
    let different = base.entries.filter { base[$0] == plain[$0] && plain[$0] != one[$0] }
    return different.count == 1 ? different[0] : nil
  }
}

/// A class's metadata as words.
private struct MethodTable {
  private let _words: UnsafePointer<UInt>

  init(_ type: NSManagedObject.Type) {
    _words = UnsafeRawPointer(unsafeBitCast(type, to: UnsafePointer<UInt>.self)).assumingMemoryBound(
      to: UInt.self)
  }

  /// Words of the head: kind, superclass, flags, instance size, class size, descriptor, destroyer of stored
  /// properties.
  private static var _head: Int { 7 }

  /// Where members stand that subclasses inherit.
  var entries: Range<Int> {
    let sizes = UnsafeRawPointer(_words).advanced(by: 4 * MemoryLayout<UInt>.size)
    let size = sizes.load(as: UInt32.self)
    let addressPoint = sizes.load(fromByteOffset: 4, as: UInt32.self)
    guard size > addressPoint else { return Self._head..<Self._head }
    return Self._head..<max(Self._head, Int(size - addressPoint) / MemoryLayout<UInt>.size)
  }

  subscript(entry: Int) -> UInt { _words[entry] }
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
