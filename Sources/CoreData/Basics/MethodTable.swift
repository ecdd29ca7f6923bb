/// The methods that a class's instances are called through, as Swift's metadata lists them.
///
/// Each member that a subclass may override has one entry, at the same index in the class that declares it
/// and in all subclasses. An entry equal to the superclass's is inherited. The index of a member is found by
/// comparing two classes that differ in one override; the layout of the table's header is part of Swift's
/// ABI ("Class Metadata" in the type metadata document).
struct MethodTable {
  private let _words: UnsafeMutablePointer<UInt>

  init(_ type: AnyClass) {
    _words = unsafeBitCast(type, to: UnsafeMutablePointer<UInt>.self)
  }

  /// Number of words in the header: kind, superclass, flags, instance size, class size, descriptor, destroyer
  /// of stored properties.
  private static var _head: Int { 7 }

  /// Indices of the inherited members.
  var entries: Range<Int> {
    let sizes = UnsafeRawPointer(_words).advanced(by: 4 * MemoryLayout<UInt>.size)
    let size = sizes.load(as: UInt32.self)
    let addressPoint = sizes.load(fromByteOffset: 4, as: UInt32.self)
    guard size > addressPoint else { return Self._head..<Self._head }
    return Self._head..<max(Self._head, Int(size - addressPoint) / MemoryLayout<UInt>.size)
  }

  /// The implementation at an index. Setting it changes what all instances of this one class do.
  subscript(entry: Int) -> UInt {
    get { _words[entry] }
    nonmutating set { _words[entry] = newValue }
  }

  /// Returns the only entry that differs between a subclass that overrides one member and one that overrides
  /// none; nil if there is no such entry, or more than one.
  func entry(overriddenBy type: AnyClass, comparedWith plain: AnyClass) -> Int? {
    let (one, none) = (MethodTable(type), MethodTable(plain))
    // Initializers have a distinct entry in each class, even if not overridden.
    let different = entries.filter { self[$0] == none[$0] && none[$0] != one[$0] }
    return different.count == 1 ? different[0] : nil
  }
}
