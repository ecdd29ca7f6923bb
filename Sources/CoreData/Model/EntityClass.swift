import Foundation
import Synchronization

/// Finds the Swift class of an entity's objects.
enum EntityClass {
  /// Returns the class of this name, or `NSManagedObject` with a warning on standard error if there is none.
  ///
  /// "Module.Class" is looked up directly. A name without module, with the "." that denotes the current module,
  /// or whose module has no such class, is searched in the program's own module first, then in every module
  /// that defines a class of this name: a model from an app names the app's module, and a test or a server has
  /// its classes in another.
  ///
  /// - Parameter warns: Whether to log the warning; false for a store's own model, whose classes belong to
  ///   another program.
  static func resolve(_ name: String?, for entity: String, warns: Bool = true) -> NSManagedObject.Type {
    guard let name, !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
    if let found = _class(named: name) { return found }
    if let dot = name.lastIndex(of: "."), dot > name.startIndex,
      let found = _class(named: String(name[dot...]))
    {
      return found
    }
    guard warns else { return NSManagedObject.self }
    _warn(
      "CoreData: entity '\(entity)' names the class '\(name)', which is not in this program or is no subclass of "
        + "NSManagedObject; its objects are plain NSManagedObjects. Write the class, or name it with its module "
        + "('Module.\(name.split(separator: ".").last ?? "Class")').")
    return NSManagedObject.self
  }

  /// Whether a module has a class of this name for objects of an entity.
  static func exists(named name: String, in module: String) -> Bool {
    ClassDirectory.type(named: name, in: module) is NSManagedObject.Type
  }

  private static func _class(named name: String) -> NSManagedObject.Type? {
    if let known = _listed(name) { return known }
    for candidate in candidates(name) {
      guard let found = NSClassFromString(candidate) else { continue }
      if let objectClass = found as? NSManagedObject.Type { return objectClass }
    }
    return nil
  }

  /// Returns the class if the directory has it, which the runtime would search for.
  private static func _listed(_ name: String) -> NSManagedObject.Type? {
    let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
    let parts = bare.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 2 { return ClassDirectory.type(named: parts[1], in: parts[0]) as? NSManagedObject.Type }
    guard parts.count == 1 else { return nil }
    let modules = [ProgramModule.name] + ClassDirectory.modules(defining: bare)
    return modules.lazy.compactMap { ClassDirectory.type(named: bare, in: $0) as? NSManagedObject.Type }.first
  }

  /// Returns the possible runtime names of a class named in a model or mapping.
  static func candidates(_ name: String) -> [String] {
    let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if bare.contains(".") { return [bare] }
    return [bare, "\(ProgramModule.name).\(bare)"]
      + ClassDirectory.modules(defining: bare).map { "\($0).\(bare)" }
  }

  private static let _warned = Mutex<Set<String>>([])

  private static func _warn(_ message: String) {
    guard _warned.withLock({ $0.insert(message).inserted }) else { return }
    FileHandle.standardError.write(Data((message + "\n").utf8))
  }
}
