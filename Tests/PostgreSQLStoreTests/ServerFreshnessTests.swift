import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreData

/// How soon a program shows what other programs have saved to a store on a server. Of two coordinators, each stands for a
/// program.
@Suite(.serialized, .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ServerFreshnessTests {
  private let _stack: ServerStack
  private let _other: ServerStack
  private let _counter = StatementCounter()
  private let _id: NSManagedObjectID

  init() throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = server.newURL()
    _other = try ServerStack(at: url)
    let stack = try ServerStack(at: url, options: [StatementCounter.option: _counter])
    _stack = stack
    let context = stack.context()
    _id = try context.performAndWait {
      let company = context.make("Company", ["name": "old"])
      try context.save()
      return company.objectID
    }
  }

  /// Lets the other program change the name.
  private func _change(_ name: String = "new") throws {
    let context = _other.context()
    try context.performAndWait {
      try #require(try context.all("Company").first).setValue(name, forKey: "name")
      try context.save()
    }
  }

  private func _name(_ context: NSManagedObjectContext) -> String? {
    context.performAndWait { context.object(with: _id).value(forKey: "name") as? String }
  }

  @Test func `a new context shows what another program has saved`() throws {
    #expect(_name(_stack.context()) == "old")
    try _change()
    // Longer than the clock's resolution.
    usleep(20_000)
    #expect(_name(_stack.context()) == "new")
  }

  @Test func `a save that has conflicted does so once`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.object(with: _id)
      company.setValue("mine", forKey: "name")
      try _change()
      #expect(throws: NSError.self) { try context.save() }
    }
    let next = _stack.context()
    try next.performAndWait {
      next.object(with: _id).setValue("mine", forKey: "name")
      try next.save()
    }
    #expect(_name(_other.context()) == "mine")
  }

  @Test(arguments: ["reset", "refresh all", "refresh"])
  func `a context that is told to read again does`(_ way: String) throws {
    let context = _stack.context()
    #expect(_name(context) == "old")
    try _change()
    usleep(20_000)
    context.performAndWait {
      switch way {
      case "reset": context.reset()
      case "refresh all": context.refreshAllObjects()
      default: context.refresh(context.object(with: _id), mergeChanges: false)
      }
    }
    #expect(_name(context) == "new")
  }

  @Test func `a context that lives on shows it after five seconds`() throws {
    let context = _stack.context()
    // It has read something, and the object is a fault.
    context.performAndWait { _ = try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) }
    #expect(_name(_stack.context()) == "old")
    try _change()
    CoarseClock.advance.add(4_000, ordering: .relaxed)
    #expect(_name(context) == "old")
    context.performAndWait { context.object(with: _id).turnIntoFault() }
    CoarseClock.advance.add(2_000, ordering: .relaxed)
    #expect(_name(context) == "new")
  }

  @Test func `an interval of the program's wins`() throws {
    let context = _stack.context()
    context.performAndWait {
      context.stalenessInterval = -1
      _ = try? context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag"))
    }
    #expect(_name(_stack.context()) == "old")
    try _change()
    CoarseClock.advance.add(60_000, ordering: .relaxed)
    #expect(_name(context) == "old")
  }

  @Test func `faults of a fetch need no statement of their own`() throws {
    let context = _stack.context()
    try context.performAndWait {
      for number in 0..<50 { context.make("Company", ["name": "\(number)"]) }
      try context.save()
    }
    let reader = _stack.context()
    try reader.performAndWait {
      let found = try reader.all("Company")
      let before = _counter.count
      for object in found { _ = object.value(forKey: "name") }
      #expect(_counter.count == before)
    }
  }

  @Test func `a read that fails ends no program unless that asks for it`() {
    #expect(_stack.coordinator.readFailurePolicy == .fail)
    let context = _stack.context()
    #expect(context.performAndWait { context.readFailurePolicy } == .fail)
    _stack.coordinator.readFailurePolicy = .trap
    #expect(_stack.coordinator.readFailurePolicy == .trap)
  }
}
