import Foundation

/// Names of the top-level classes in the program by module.
///
/// On Apple's platforms a class is found by the plain name that `@objc(Name)` gives it. There is no `@objc`
/// here, and a class is found by "Module.Name" only; but models rarely name the module. So this reads, once
/// and only if needed, the names in the type records that the Swift compiler leaves in every image; the class
/// itself is then looked up in the regular way.
enum ClassDirectory {
  /// Modules that define a top-level class of this name, in alphabetical order.
  static func modules(defining name: String) -> [String] { _modules[name] ?? [] }

  /// Names of all modules that define a top-level class.
  static let moduleNames = Set(_modules.values.joined())

  private static let _modules: [String: [String]] = _read().mapValues { $0.sorted() }

  /// Signature of the runtime's `swift_enumerateAllMetadataSections`.
  private typealias Enumerate =
    @convention(c) (
      @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool, UnsafeMutableRawPointer?
    ) -> Void

  private static func _read() -> [String: [String]] {
    guard let image = dlopen(nil, RTLD_LAZY), let symbol = dlsym(image, "swift_enumerateAllMetadataSections")
    else {
      return [:]
    }
    let found = Found()
    let enumerate = unsafeBitCast(symbol, to: Enumerate.self)
    enumerate(_visit, Unmanaged.passUnretained(found).toOpaque())
    return found.modules
  }

  /// Where the runtime's callback, which can capture nothing, puts what it finds.
  private final class Found {
    var modules: [String: [String]] = [:]
  }

  private static let _visit: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool = {
    sections, context in
    if let context { _add(sections, to: Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()) }
    return true
  }

  /// Reads the type records of one image.
  ///
  /// Its sections start with a version and the image's address, two unused words, then address and length of
  /// each section; type records are the third. Versions whose layout is not known to be that are left alone.
  private static func _add(_ sections: UnsafeRawPointer, to found: Found) {
    let words = sections.assumingMemoryBound(to: UInt.self)
    guard (4...5).contains(words[0]), let records = UnsafeRawPointer(bitPattern: words[8]) else { return }
    for position in stride(from: 0, to: Int(words[9]), by: 4) {
      let record = records + position
      let offset = record.loadUnaligned(as: Int32.self)
      // The low bits tell a direct reference (0) from one through a pointer (1).
      let kind = offset & 3
      guard kind <= 1, offset != 0 else { continue }
      var descriptor = record + Int(offset & ~3)
      if kind == 1 {
        guard let target = descriptor.loadUnaligned(as: UnsafeRawPointer?.self) else { continue }
        descriptor = target
      }
      guard let (name, module) = _topLevelClass(descriptor) else { continue }
      found.modules[name, default: []].append(module)
    }
  }

  /// Name and module of the class that a context descriptor describes; nil for any other kind of type,
  /// generic classes and nested ones.
  private static func _topLevelClass(_ descriptor: UnsafeRawPointer) -> (name: String, module: String)? {
    let flags = descriptor.loadUnaligned(as: UInt32.self)
    let (classKind, isGeneric): (UInt32, UInt32) = (16, 0x80)
    guard flags & 0x1F == classKind, flags & isGeneric == 0 else { return nil }
    let parentField = descriptor + 4
    let parentOffset = parentField.loadUnaligned(as: Int32.self)
    var parent = parentField + Int(parentOffset & ~1)
    if parentOffset & 1 == 1 {
      guard let target = parent.loadUnaligned(as: UnsafeRawPointer?.self) else { return nil }
      parent = target
    }
    let moduleKind: UInt32 = 0
    guard parentOffset != 0, parent.loadUnaligned(as: UInt32.self) & 0x1F == moduleKind else { return nil }
    return (_name(descriptor + 8), _name(parent + 8))
  }

  private static func _name(_ field: UnsafeRawPointer) -> String {
    String(cString: (field + Int(field.loadUnaligned(as: Int32.self))).assumingMemoryBound(to: CChar.self))
  }
}
