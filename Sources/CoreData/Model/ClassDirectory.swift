import CoreDataCSwiftRuntime
import Foundation

/// Names of the program's top-level classes by module.
///
/// On Apple's platforms a class is found by its `@objc(Name)`. Without `@objc`, classes are found only by
/// "Module.Name", but models rarely specify the module. This directory therefore reads, once and on demand,
/// the names in the type records that the Swift compiler emits into every image.
///
/// It also returns the class itself: the runtime's look-up by name scans the records of all images for each
/// name, which takes a millisecond for each entity of a model.
enum ClassDirectory {
  /// Returns the modules that define a top-level class of this name, in alphabetical order.
  static func modules(defining name: String) -> [String] { _classes[name]?.map(\.module) ?? [] }

  /// Returns the top-level class of this name in a module; nil if the directory has none.
  static func type(named name: String, in module: String) -> AnyClass? {
    guard let found = _classes[name]?.first(where: { $0.module == module }),
      let metadata = coredata_metadata(found.descriptor)
    else { return nil }
    return unsafeBitCast(metadata, to: AnyClass.self)
  }

  /// Names of all modules that define a top-level class.
  static let moduleNames = Set(_classes.values.joined().map(\.module))

  /// The classes of a name, by module.
  private static let _classes: [String: [Class]] = _read().mapValues { $0.sorted { $0.module < $1.module } }

  private struct Class: @unchecked Sendable {
    // Unchecked: a descriptor is a constant of an image, and the runtime never unloads an image.
    let module: String
    let descriptor: UnsafeRawPointer
  }

  /// Signature of the runtime's `swift_enumerateAllMetadataSections`.
  private typealias Enumerate =
    @convention(c) (
      @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool, UnsafeMutableRawPointer?
    ) -> Void

  private static func _read() -> [String: [Class]] {
    guard let image = dlopen(nil, RTLD_LAZY), let symbol = dlsym(image, "swift_enumerateAllMetadataSections")
    else {
      return [:]
    }
    let found = Found()
    let enumerate = unsafeBitCast(symbol, to: Enumerate.self)
    enumerate(_visit, Unmanaged.passUnretained(found).toOpaque())
    return found.classes
  }

  /// Collects the results of the runtime's callback, which cannot capture anything.
  private final class Found {
    var classes: [String: [Class]] = [:]
  }

  private static let _visit: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool = {
    sections, context in
    if let context { _add(sections, to: Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()) }
    return true
  }

  /// Reads the type records of one image.
  ///
  /// Its sections start with a version and the image's address, two unused words, then address and length of
  /// each section; type records are the third. Versions with an unknown layout are skipped.
  private static func _add(_ sections: UnsafeRawPointer, to found: Found) {
    let words = sections.assumingMemoryBound(to: UInt.self)
    guard (4...5).contains(words[0]), let records = UnsafeRawPointer(bitPattern: words[8]) else { return }
    for position in stride(from: 0, to: Int(words[9]), by: 4) {
      let record = records + position
      let offset = record.loadUnaligned(as: Int32.self)
      // The low bits distinguish a direct reference (0) from an indirect one (1).
      let kind = offset & 3
      guard kind <= 1, offset != 0 else { continue }
      var descriptor = record + Int(offset & ~3)
      if kind == 1 {
        guard let target = descriptor.loadUnaligned(as: UnsafeRawPointer?.self) else { continue }
        descriptor = target
      }
      guard let (name, module) = _topLevelClass(descriptor) else { continue }
      found.classes[name, default: []].append(Class(module: module, descriptor: descriptor))
    }
  }

  /// Returns name and module of the class that a context descriptor describes; nil for any other kind of
  /// type, and for generic and nested classes.
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
