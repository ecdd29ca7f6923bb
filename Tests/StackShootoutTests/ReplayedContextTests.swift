import CoreData
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Programs with several contexts whose changes are undone, discarded and refused, recorded by a store's option and replayed.
// In turn: a program makes one recording at a time.
@Suite(.serialized) struct ReplayedContextTests {
  private let _scratch: ScratchDirectory
  private let _store: String
  private let _trace: String

  init() throws {
    _scratch = try ScratchDirectory()
    (_store, _trace) = (_scratch.file("Shop.sqlite"), _scratch.file("trace.ndjson"))
  }

  /// Customers A to D in a store; a program that goes on with it is recorded, and the store as it was before is kept.
  private func _record(_ program: (NSPersistentStoreCoordinator) throws -> Void) throws {
    func open(_ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordShop.model())
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: _store), options: options)
      return coordinator
    }
    let first = try open()
    let context = first.makeContext()
    try context.performAndWait {
      for code in ["A", "B", "C", "D"] {
        let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
        customer.setValue(code, forKey: "code")
        customer.setValue("old", forKey: "name")
      }
      try context.save()
    }
    try first.removeStores()
    try ReplayWork.copyStore(_store, to: _scratch.file("before.sqlite"))
    let recorded = try open([
      NSPersistentStoreRecordingFileOption: _trace, NSPersistentStoreRecordingValuesOption: true,
    ])
    try program(recorded)
    try recorded.removeStores()
  }

  private func _customer(_ code: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Customer")
    request.predicate = NSPredicate(format: "code == %@", code)
    return try #require(try context.fetch(request).first)
  }

  private func _customers(_ path: String) throws -> [String] {
    try PlainSQLite(path: path, readOnly: true).rows(
      "SELECT ZCODE, ZNAME FROM ZCUSTOMER ORDER BY ZCODE, ZNAME"
    )
    .map { $0.map { $0 ?? "-" }.joined(separator: " ") }
  }

  /// Replays the recording in all designs, each of which must leave what the program has left.
  private func _expectTheSame(_ expected: [String], leftOut: [String] = []) throws {
    #expect(try _customers(_store) == expected)
    let stores = _scratch.file("replayed")
    let outcome = try ToolProcess.run([
      "shootout", "--replay", _trace, "--from", _scratch.file("before.sqlite"), "--runs", "1", "--format",
      "json",
      "--stores", stores,
    ])
    try #require(outcome.code == 0, "\(outcome.error)")
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    for stack in try #require(document?["stacks"] as? [[String: Any]]) {
      let replay = try #require(stack["replay"] as? [String: Any])
      let design = try #require(stack["id"] as? String)
      #expect(try _customers("\(stores)/\(design).sqlite") == expected, "\(design)")
      // One context, in which fetches see what the others have not saved.
      guard design != "main" else { continue }
      #expect(replay["fetches"] as? Int == replay["equal"] as? Int, "\(stack)")
      #expect((replay["left_out"] as? [String: Int] ?? [:]).keys.sorted() == leftOut, "\(design)")
    }
  }

  @Test func `what is undone is not saved`() throws {
    try _record { coordinator in
      let context = coordinator.makeContext()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      try context.performAndWait {
        try _customer("A", in: context).setValue("new", forKey: "name")
        context.processPendingChanges()
        try _customer("B", in: context).setValue("undone", forKey: "name")
        context.processPendingChanges()
        context.undo()
        let made = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
        made.setValue("X", forKey: "code")
        context.processPendingChanges()
        context.undo()
        context.delete(try _customer("C", in: context))
        context.processPendingChanges()
        context.undo()
        // Of two changes of one object only the second is undone.
        let last = try _customer("D", in: context)
        last.setValue("first", forKey: "name")
        context.processPendingChanges()
        last.setValue("E", forKey: "code")
        context.processPendingChanges()
        context.undo()
        // What is redone is.
        let again = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
        again.setValue("F", forKey: "code")
        again.setValue("redone", forKey: "name")
        context.processPendingChanges()
        context.undo()
        context.redo()
        try context.save()
      }
    }
    try _expectTheSame(["A new", "B old", "C old", "D first", "F redone"])
  }

  @Test func `a rollback, a refresh or a reset takes back the changes of its own context only`() throws {
    try _record { coordinator in
      let contexts = (0..<4).map { _ in coordinator.makeContext() }
      for (context, code) in zip(contexts, ["A", "B", "C", "D"]) {
        try context.performAndWait {
          let customer = try _customer(code, in: context)
          customer.setValue("new \(code)", forKey: "name")
          if code == "B" { context.delete(try _customer("C", in: context)) }
          context.processPendingChanges()
        }
      }
      try contexts[0].performAndWait {
        contexts[0].refresh(try _customer("A", in: contexts[0]), mergeChanges: false)
      }
      contexts[1].performAndWait { contexts[1].rollback() }
      contexts[2].performAndWait { contexts[2].reset() }
      for context in contexts { try context.performAndWait { try context.save() } }
    }
    try _expectTheSame(["A old", "B old", "C old", "D new D"])
  }

  @Test func `a save that a constraint refuses, and what is rolled back then, is in no store`() throws {
    try _record { coordinator in
      for _ in 0..<2 {
        let context = coordinator.makeContext()
        try context.performAndWait {
          let double = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
          double.setValue("A", forKey: "code")
          double.setValue("double", forKey: "name")
          #expect(throws: CocoaError.self) { try context.save() }
          context.rollback()
          #expect(try _customer("A", in: context).value(forKey: "name") as? String == "old")
          try _customer("B", in: context).setValue("later", forKey: "name")
          try context.save()
        }
      }
    }
    try _expectTheSame(["A old", "B later", "C old", "D old"], leftOut: ["saves that had failed"])
  }

  @Test func `what several lanes have done adds up`() {
    var one = ReplayFigures(events: 1, fetches: 2, equal: 3, byID: 4)
    var other = ReplayFigures(events: 10, fetches: 20, equal: 30, byID: 40)
    one.leaveOut("undo")
    for reason in ["undo", "undo", "reset"] { other.leaveOut(reason) }
    #expect(
      one + other
        == ReplayFigures(events: 11, fetches: 22, equal: 33, byID: 44, leftOut: ["undo": 3, "reset": 1]))
  }
}
