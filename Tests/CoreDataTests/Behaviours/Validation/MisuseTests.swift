@testable import CoreData
import Foundation
import Testing

@Suite struct MisuseTests {
  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `reading an object off its queue traps and names the queue`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.name = "import"
      let ada = stack.context.performAndWait { stack.context.insert("Author") }
      _ = ada.value(forKey: "name")
    }
    let text = Self.text(result)
    #expect(text.contains("multithreading violation: Author x-coredata:"))
    #expect(text.contains("of context 'import'"))
    #expect(text.contains("Its queue is 'import'"))
  }

  @Test func `writing an object in another contexts block traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let ada = stack.context.performAndWait { stack.context.insert("Author") }
      let other = stack.sibling()
      other.name = "other"
      other.performAndWait { ada.setValue("Ada", forKey: "name") }
    }
    #expect(Self.text(result).contains("was used on queue 'other'"))
  }

  @Test func `fetching off the queue traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      _ = try stack.context.count("Author")
    }
    #expect(Self.text(result).contains("multithreading violation: private-queue context"))
  }

  @Test func `undoing off the queue traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { stack.context.undoManager = UndoManager() }
      stack.context.undo()
    }
    #expect(Self.text(result).contains("multithreading violation: private-queue context"))
  }

  @Test func `object IDs are read anywhere`() throws {
    let stack = try TestStack(.memory)
    let ada = stack.context.performAndWait { stack.context.insert("Author") }
    #expect(ada.objectID.isTemporaryID)
    #expect(ada.entity.name == "Author")
    #expect(ada.managedObjectContext === stack.context)
  }

  @Test func `the switch comes from arguments, environment or build`() {
    func mode(_ arguments: [String], _ environment: [String: String], debug: Bool) -> ConcurrencyCheck.Mode {
      ConcurrencyCheck.decision(arguments: arguments, environment: environment, isDebugBuild: debug)
    }
    let flag = "-com.apple.CoreData.ConcurrencyDebug"
    #expect(mode(["tool"], [:], debug: true) == .reports)
    #expect(mode(["tool"], [:], debug: false) == .off)
    #expect(mode(["tool", flag, "1"], [:], debug: false) == .traps)
    #expect(mode(["tool", flag, "0"], ["COREDATA_CONCURRENCY_DEBUG": "1"], debug: true) == .off)
    #expect(mode(["tool"], ["COREDATA_CONCURRENCY_DEBUG": "1"], debug: false) == .traps)
    #expect(mode(["tool"], ["COREDATA_CONCURRENCY_DEBUG": "0"], debug: true) == .off)
  }

  @Test func `this project's tests run with the check trapping`() {
    #expect(ConcurrencyCheck.mode == .traps)
  }

  /// Returns the lines about misuse from a process whose check only reports.
  private static func reports(_ result: ExitTest.Result?) -> [Substring] {
    text(result).split(separator: "\n").filter { $0.contains("multithreading violation") }
  }

  @Test func `a debug build reports each misuse once and continues`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsetenv(ConcurrencyCheck.variable)
      let stack = try TestStack(.memory)
      stack.context.name = "import"
      let ada = stack.context.performAndWait { stack.context.insert("Author") }
      for _ in 0..<3 { ada.setValue("Ada", forKey: "name") }
      for _ in 0..<3 { _ = try stack.context.count("Author") }
    }
    let lines = Self.reports(result)
    #if DEBUG
    let ofAuthor = lines.filter { $0.contains("violation: Author") }
    #expect(ofAuthor.count == 1)
    #expect(ofAuthor.first?.contains("of context 'import' was used on") ?? false)
    #expect(ofAuthor.first?.contains("Its queue is 'import'") ?? false)
    #expect(ofAuthor.first?.contains("-com.apple.CoreData.ConcurrencyDebug 1") ?? false)
    // The engine checks more than once during one call.
    let ofContext = lines.filter { $0.contains("violation: context 'import'") }
    #expect((1...2).contains(ofContext.count))
    #else
    #expect(lines.isEmpty)
    #endif
  }

  @Test func `deleting an object of another context traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let ada = stack.context.performAndWait { stack.context.insert("Author") }
      let other = stack.sibling()
      other.performAndWait { other.delete(ada) }
    }
    #expect(Self.text(result).contains("an attempt to delete an object of"))
  }

  @Test func `a confinement context is refused as parent`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = NSManagedObjectContext(concurrencyType: .confinement)
    }
    #expect(Self.text(result).contains("a parent context must work on a queue"))
  }

  @Test func `a used contexts coordinator stays`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { _ = stack.context.insert("Author") }
      stack.context.persistentStoreCoordinator = NSPersistentStoreCoordinator(
        managedObjectModel: LibraryModel.make())
    }
    #expect(Self.text(result).contains("its coordinator cannot be changed"))
  }

  @Test func `reading an object after reset traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      try stack.context.performAndWait {
        let ada = stack.context.insert("Author", ["name": "Ada"])
        try stack.context.save()
        stack.context.reset()
        _ = ada.value(forKey: "name")
      }
    }
    #expect(Self.text(result).contains("could not fulfil a fault"))
  }

  @Test func `a vanished row traps when faults are not to be deleted`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      let other = stack.sibling()
      other.shouldDeleteInaccessibleFaults = false
      try stack.context.performAndWait {
        let ada = stack.context.insert("Author")
        try stack.context.save()
        let id = ada.objectID
        let fault = other.performAndWait { other.object(with: id) }
        stack.context.delete(ada)
        try stack.context.save()
        other.performAndWait { _ = fault.value(forKey: "name") }
      }
    }
    #expect(Self.text(result).contains("the row is not in the store"))
  }

  @Test func `a will save that never settles traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory, model: HookedAuthor.model())
      try stack.context.performAndWait {
        let ada = stack.context.hookedAuthor("Ada")
        ada.inWillSave = { $0.setValue(($0.value(forKey: "age") as? Int ?? 0) % 1000 + 1, forKey: "age") }
        try stack.context.save()
      }
    }
    #expect(Self.text(result).contains("within 1000 passes"))
  }

  @Test func `assigning to a store without the entity traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let two = try TwoStores()
      two.context.performAndWait { two.context.assign(two.context.insert("Tag"), to: two.people) }
    }
    #expect(Self.text(result).contains("does not have the entity"))
  }
}

/// A coordinator with a store for authors and one for everything else.
struct TwoStores {
  let coordinator: NSPersistentStoreCoordinator
  let people: NSPersistentStore
  let rest: NSPersistentStore
  let context = NSManagedObjectContext(.privateQueue)

  init() throws {
    let model = LibraryModel.make()
    let authors = model.entities.filter { $0.name == "Author" }
    model.setEntities(authors, forConfigurationName: "People")
    model.setEntities(model.entities, forConfigurationName: "All")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    people = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: "People", at: nil)
    rest = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "All", at: nil)
    context.persistentStoreCoordinator = coordinator
  }
}
