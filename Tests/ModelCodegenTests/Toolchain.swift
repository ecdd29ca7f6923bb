import Foundation
import TestSupport

/// The compiler on the PATH, for tests that run it.
enum Toolchain {
  static let swiftc = _find("swiftc")
  static let nm = _find("nm") ?? _find("llvm-nm")
  static var isAvailable: Bool { swiftc != nil && nm != nil }

  private static func _find(_ name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return directories.lazy.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a program; returns its exit status and all output.
  static func run(_ program: String, _ arguments: [String], in directory: URL) throws -> (
    status: Int32, output: String
  ) {
    // The compiler leaves directories behind.
    let outcome = try ChildProcess.run(program, arguments, in: directory, adding: ["TMPDIR": directory.path])
    return (outcome.code, outcome.output + outcome.error)
  }

  /// Runs `body` with a new directory, which is removed afterwards.
  static func withDirectory<T>(_ body: (URL) throws -> T) throws -> T {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("codegen-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory)
  }

  /// Compiles a stub of the Core Data module that declares what generated code uses.
  static func makeCoreData(in directory: URL) throws -> (status: Int32, output: String) {
    try _stub.write(to: directory.appendingPathComponent("CoreData.swift"), atomically: true, encoding: .utf8)
    return try run(
      swiftc!,
      [
        "-parse-as-library", "-emit-module", "-emit-library", "-static", "-module-name", "CoreData",
        "CoreData.swift",
        "-o", "libCoreData.a",
      ], in: directory)
  }

  private static let _stub = """
    @_exported import Foundation
    open class NSManagedObject: NSObject {
      public final var values: [String: Any] = [:]
    }
    public final class NSManagedObjectID: NSObject {}
    public protocol NSFetchRequestResult {}
    public final class NSFetchRequest<Result>: NSObject {
      public init(entityName: String) {}
    }
    public final class ManagedKey<Value>: Sendable {
      public let name: String
      public init(_ name: String) { self.name = name }
      public subscript(object: NSManagedObject) -> Value {
        get { object.values[name] as! Value }
        set { object.values[name] = newValue }
      }
      public func setPrimitive(_ value: Value, of object: NSManagedObject) { object.values[name] = value }
      public func add(_ member: NSManagedObject, to object: NSManagedObject) { note("add one", object) }
      public func remove(_ member: NSManagedObject, from object: NSManagedObject) { note("remove one", object) }
      public func add(_ members: some Sequence, to object: NSManagedObject) { note("add many", object) }
      public func remove(_ members: some Sequence, from object: NSManagedObject) { note("remove many", object) }
      public func insert(_ member: NSManagedObject, into object: NSManagedObject, at index: Int) { note("insert", object) }
      public func remove(at index: Int, from object: NSManagedObject) { note("remove at", object) }
      public func insert(_ members: [NSManagedObject], into object: NSManagedObject, at indexes: NSIndexSet) {}
      public func remove(at indexes: NSIndexSet, from object: NSManagedObject) {}
      public func replace(at index: Int, in object: NSManagedObject, with member: NSManagedObject) {}
      public func replace(at indexes: NSIndexSet, in object: NSManagedObject, with members: [NSManagedObject]) {}
      private func note(_ what: String, _ object: NSManagedObject) { object.values[name] = what }
    }
    """
}
