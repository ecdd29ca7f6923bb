import CoreData
import Foundation
import Testing

/// A double that hands on what `super` finds.
private class CountingContext: NSManagedObjectContext, @unchecked Sendable {
  var calls = 0

  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    calls += 1
    return try super.fetch(request)
  }
}

/// A double that keeps what `super` finds, so that the type of the result is not given.
private class LookingContext: NSManagedObjectContext, @unchecked Sendable {
  var calls = 0

  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    calls += 1
    let results = try super.fetch(request)
    return results
  }
}

private final class SilentContext: NSManagedObjectContext, @unchecked Sendable {
  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { [] }
}

private final class Descendant: CountingContext, @unchecked Sendable {}

private final class Intermediary: CountingContext, @unchecked Sendable {
  var ownCalls = 0

  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    ownCalls += 1
    return try super.fetch(request)
  }
}

private final class GenericDouble<Note>: CountingContext, @unchecked Sendable {
  var note: Note?
}

private final class OverridesBoth: NSManagedObjectContext, @unchecked Sendable {
  var calls: [String] = []

  override func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    calls.append("generic")
    return try super.fetch(request)
  }

  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    calls.append("untyped")
    return try super.fetch(request)
  }
}

private final class PlainSubclass: NSManagedObjectContext, @unchecked Sendable {}

@Suite("A context that overrides the untyped fetch")
struct OverriddenFetchTests {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Publication")

  init() throws {
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: GenericCreationTests.model)
    try _coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = _coordinator
    try context.performAndWait {
      _ = Publication(context: context)
      try context.save()
    }
  }

  private func _connected<Context: NSManagedObjectContext>(_ context: Context) -> Context {
    context.persistentStoreCoordinator = _coordinator
    return context
  }

  /// Fetches as code does that knows nothing of the double.
  private func _fetch(_ context: NSManagedObjectContext) throws -> Int {
    try context.performAndWait {
      let results = try context.fetch(_request)
      return results.count
    }
  }

  @Test func `the results of an untyped request have the request's type`() throws {
    let context = _connected(NSManagedObjectContext(.privateQueue))
    let types = try context.performAndWait {
      let results = try context.fetch(_request)
      return [type(of: results)] as [Any.Type]
    }
    #expect(types.first == [any NSFetchRequestResult].self)
  }

  @Test func `an override runs once for a call from outside`() throws {
    let double = _connected(CountingContext(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.calls == 1)
  }

  @Test func `an override that keeps the result of super runs once`() throws {
    let double = _connected(LookingContext(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.calls == 1)
    #expect(try double.performAndWait { try double.fetch(_request).count } == 1)
    #expect(double.calls == 2)
  }

  @Test func `an override runs once for a typed request`() throws {
    let double = _connected(LookingContext(.privateQueue))
    let request = NSFetchRequest<Publication>(entityName: "Publication")
    #expect(try double.performAndWait { try double.fetch(request).count } == 1)
    #expect(double.calls == 1)
  }

  @Test func `an override that does not call super decides what is found`() throws {
    #expect(try _fetch(_connected(SilentContext(.privateQueue))) == 0)
  }

  @Test func `a subclass of a double fetches as the double does`() throws {
    let double = _connected(Descendant(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.calls == 1)
  }

  @Test func `overrides at two levels run once each`() throws {
    let double = _connected(Intermediary(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.ownCalls == 1)
    #expect(double.calls == 1)
  }

  @Test func `a generic subclass of a double fetches as the double does`() throws {
    let double = _connected(GenericDouble<Int>(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.calls == 1)
  }

  @Test func `an untyped request goes to the generic method where a class overrides both`() throws {
    let double = _connected(OverridesBoth(.privateQueue))
    #expect(try _fetch(double) == 1)
    #expect(double.calls == ["generic"])
  }

  @Test func `a subclass that overrides neither fetches`() throws {
    #expect(try _fetch(_connected(PlainSubclass(.privateQueue))) == 1)
  }

  @Test func `contexts of one class that are made at once all call the override`() async throws {
    final class Fresh: NSManagedObjectContext, @unchecked Sendable {
      override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        [NSNumber(value: 1), NSNumber(value: 2)]
      }
    }
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<32 {
        group.addTask {
          let context: NSManagedObjectContext = Fresh(.privateQueue)
          let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Publication")
          return context.performAndWait { try? context.fetch(request).count }
        }
      }
      for await one in group { #expect(one == 2) }
    }
  }
}
