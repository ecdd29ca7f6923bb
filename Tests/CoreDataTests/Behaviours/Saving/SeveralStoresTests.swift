import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Two stores of one model, each with the entities of one configuration.
@Suite final class SeveralStoresTests {
  private let _model: NSManagedObjectModel
  private let _directory: URL

  init() throws {
    let person = LibraryModel.entity("Person")
    person.properties = [LibraryModel.attribute("name", .stringAttributeType)]
    let note = LibraryModel.entity("Note")
    note.properties = [LibraryModel.attribute("text", .stringAttributeType)]
    _model = NSManagedObjectModel()
    _model.entities = [person, note]
    _model.setEntities([person], forConfigurationName: "People")
    _model.setEntities([note], forConfigurationName: "Notes")
    _directory = try TemporaryPlace.makeDirectory()
  }

  deinit { try? FileManager.default.removeItem(at: _directory) }

  /// Locations of the stores, the same for every coordinator.
  private lazy var _places = ["People", "Notes"].reduce(into: [String: URL]()) {
    $0[$1] = TestDatabase.place(_directory.appendingPathComponent("\($1).sqlite"))
  }

  private func _coordinator(_ type: String = TestDatabase.type) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: _model)
    for configuration in ["People", "Notes"] {
      try coordinator.addPersistentStore(
        ofType: type, configurationName: configuration,
        at: type == TestDatabase.type ? _places[configuration]! : nil)
    }
    return coordinator
  }

  /// Returns a saved person and a saved note.
  private func _pair(_ context: NSManagedObjectContext) throws -> (NSManagedObject, NSManagedObject) {
    try context.performAndWait {
      let pair = (context.insert("Person", ["name": "Ada"]), context.insert("Note", ["text": "first"]))
      try context.save()
      return pair
    }
  }

  /// Changes the only object of an entity through another coordinator on the same files.
  private func _changeElsewhere(_ entity: String, _ key: String) throws {
    let other = try _coordinator().newContext()
    try other.performAndWait {
      try other.all(entity)[0].setValue("theirs", forKey: key)
      try other.save()
    }
  }

  /// Returns the contents of the files.
  private func _stored() throws -> [String?] {
    let context = try _coordinator().newContext()
    return try context.performAndWait {
      try context.all("Person").map { $0.text("name") } + context.all("Note").map { $0.text("text") }
    }
  }

  @Test func `a store of a configuration opens again`() throws {
    _ = try _pair(_coordinator().newContext())
    try #expect(_stored() == ["Ada", "first"])
  }

  /// For each of the two stores in turn, changes it in another context, and changes both objects here to the
  /// same text.
  private func _whenEitherIsChangedElsewhere(
    _ policy: NSMergePolicy, _ save: (NSManagedObjectContext, String) throws -> Void
  ) throws {
    let context = try _coordinator().newContext()
    context.mergePolicy = policy
    let (person, note) = try _pair(context)
    for (entity, key) in [("Person", "name"), ("Note", "text")] {
      // Read before they are overwritten.
      context.performAndWait { _ = (person.text("name"), note.text("text")) }
      try _changeElsewhere(entity, key)
      try context.performAndWait {
        person.setValue("mine: \(entity)", forKey: "name")
        note.setValue("mine: \(entity)", forKey: "text")
        try save(context, "mine: \(entity)")
      }
    }
  }

  @Test func `a conflict in any store leaves all as they were`() throws {
    try _whenEitherIsChangedElsewhere(.error) { context, _ in
      let before = try _stored()
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.errorCode == NSManagedObjectMergeError)
      try #expect(_stored() == before)
      context.rollback()
      context.refreshAllObjects()
    }
  }

  @Test func `a conflict in any store is put to the merge policy`() throws {
    try _whenEitherIsChangedElsewhere(.mergeByPropertyObjectTrump) { context, text in
      try context.save()
      try #expect(_stored() == [text, text])
    }
  }

  @Test func `faults see a committed store although another failed`() throws {
    let coordinator = try _coordinator(NSInMemoryStoreType)
    let context = coordinator.newContext()
    let (person, note) = try _pair(context)
    // The last store to commit, which fails after the other has committed.
    let stores = coordinator.persistentStores.sorted { $0.identifier < $1.identifier }
    let failing = stores[0]
    try failing.attach(UncommittingEngine(#require(failing.engine)), metadata: failing.metadata)
    context.performAndWait {
      person.setValue("Augusta", forKey: "name")
      note.setValue("ours", forKey: "text")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.errorCode == NSPersistentStoreIncompleteSaveError)
      #expect(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] == [failing])
    }
    let fresh = coordinator.newContext()
    fresh.performAndWait {
      let name = fresh.object(with: person.objectID).text("name")
      let text = fresh.object(with: note.objectID).text("text")
      #expect(
        [name, text] == (failing.configurationName == "People" ? ["Ada", "ours"] : ["Augusta", "first"]))
    }
  }

  @Test func `a store is not added twice`() throws {
    let coordinator = try _coordinator()
    let url = try #require(coordinator.persistentStores[0].url)
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: TestDatabase.type, configurationName: "People", at: url)
    }
    #expect(error?.errorCode == 134081)
    #expect(coordinator.persistentStores.count == 2)
    _ = try _pair(coordinator.newContext())
  }
}

/// A store whose commit fails.
private final class UncommittingEngine: StoreEngine {
  private let _engine: any StoreEngine

  init(_ engine: any StoreEngine) { _engine = engine }

  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    try others()
    throw CocoaError(.fileWriteOutOfSpace)
  }

  var spaces: [ObjectIDSpace] { _engine.spaces }
  var evaluatesPredicates: Bool { _engine.evaluatesPredicates }
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] { try _engine.fetch(plan) }
  func count(_ plan: FetchPlan) throws -> Int { try _engine.count(plan) }
  func table(_ plan: DictionaryPlan) throws -> [[Value]] { try _engine.table(plan) }
  func rows(for keys: [ObjectKey]) throws -> [Row?] { try _engine.rows(for: keys) }
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _engine.related(to: owners, slot: slot)
  }
  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]] { try _engine.reserveKeys(counts) }
  var metadata: [String: Any] { get throws { try _engine.metadata } }
  func setMetadata(_ metadata: [String: Any]) throws { try _engine.setMetadata(metadata) }
  func close() { _engine.close() }
}
