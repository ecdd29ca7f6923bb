import CoreData
import Foundation
import Testing

import class CoreData.NSComparisonPredicate

private struct Refusal: Error {}

/// A context as test suites override it: every overridable member of Core Data's class.
private final class SpyContext: NSManagedObjectContext, @unchecked Sendable {
  var calls: [String] = []
  var fetchError: (any Error)?

  private func _note<T>(_ call: String, _ value: T) -> T {
    calls.append(call)
    return value
  }

  override var hasChanges: Bool { _note("hasChanges", false) }
  override var insertedObjects: Set<NSManagedObject> { _note("insertedObjects", []) }
  override var updatedObjects: Set<NSManagedObject> { _note("updatedObjects", []) }
  override var deletedObjects: Set<NSManagedObject> { _note("deletedObjects", []) }
  override var registeredObjects: Set<NSManagedObject> { _note("registeredObjects", []) }
  override var queryGenerationToken: NSQueryGenerationToken? { _note("queryGenerationToken", nil) }
  override var undoManager: UndoManager? {
    get { _note("undoManager", super.undoManager) }
    set { super.undoManager = newValue }
  }

  override func perform(_ block: @escaping () -> Void) {
    calls.append("perform")
    super.performAndWait(block)
  }
  override func performAndWait(_ block: () -> Void) {
    calls.append("performAndWait")
    super.performAndWait(block)
  }
  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    calls.append("fetch")
    if let fetchError { throw fetchError }
    return try super.fetch(request)
  }
  override func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
    calls.append("count")
    return try super.count(for: request)
  }
  override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    calls.append("execute")
    return try super.execute(request)
  }
  override func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    _note("registeredObject", super.registeredObject(for: objectID))
  }
  override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    _note("object", super.object(with: objectID))
  }
  override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    calls.append("existingObject")
    throw Refusal()
  }
  override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    calls.append("obtainPermanentIDs")
    throw Refusal()
  }
  override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { calls.append("refresh") }
  override func refreshAllObjects() { calls.append("refreshAllObjects") }
  override func detectConflicts(for object: NSManagedObject) { calls.append("detectConflicts") }
  override func assign(_ object: Any, to store: NSPersistentStore) { calls.append("assign") }
  override func mergeChanges(fromContextDidSave notification: Notification) { calls.append("mergeChanges") }
  override func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { throw Refusal() }
  override func undo() { calls.append("undo") }
  override func redo() { calls.append("redo") }
}

private final class SpyCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
  override func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore { throw Refusal() }
  override func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) { block(storeDescription, Refusal()) }
  override func remove(_ store: NSPersistentStore) throws { throw Refusal() }
  override func persistentStore(for URL: URL) -> NSPersistentStore? { nil }
  override func url(for store: NSPersistentStore) -> URL { URL(fileURLWithPath: "/") }
  override func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { false }
  override func metadata(for store: NSPersistentStore) -> [String: Any] { [:] }
  override func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {}
  override func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? { nil }
  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws
    -> Any
  { throw Refusal() }
  override func migratePersistentStore(
    _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore { throw Refusal() }
  override func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws { throw Refusal() }
  override func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws { throw Refusal() }
  override func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? { nil }
  override func finishDeferredLightweightMigration() throws { throw Refusal() }
  override func perform(_ block: @escaping () -> Void) { block() }
  override func performAndWait(_ block: () -> Void) { block() }
}

private class SpyObject: NSManagedObject {
  override var hasChanges: Bool { false }
  override var hasPersistentChangedValues: Bool { false }
  override func changedValues() -> [String: Any] { [:] }
  override func committedValues(forKeys keys: [String]?) -> [String: Any] { [:] }
  override func value(forKeyPath keyPath: String) -> Any? { nil }
  override func setValuesForKeys(_ keyedValues: [String: Any]) {}
  override func mutableSetValue(forKey key: String) -> NSMutableSet { NSMutableSet() }
}

private final class SpyTransaction: NSPersistentHistoryTransaction {
  private let _author: String
  private let _changes: [NSPersistentHistoryChange]

  init(author: String, changes: [NSPersistentHistoryChange]) {
    _author = author
    _changes = changes
    super.init()
  }

  override var author: String? { _author }
  override var changes: [NSPersistentHistoryChange]? { _changes }
  override var token: NSPersistentHistoryToken { SpyToken() }
  override var timestamp: Date { .distantPast }
}

private final class SpyChange: NSPersistentHistoryChange {
  override var changedObjectID: NSManagedObjectID { SpyID() }
  override var changeType: NSPersistentHistoryChangeType { .delete }
  override var tombstone: [AnyHashable: Any]? { ["title": "Vogue"] }
}

private final class SpyToken: NSPersistentHistoryToken, @unchecked Sendable {}

private final class SpyHistoryRequest: NSPersistentHistoryChangeRequest {
  override class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    let request = super.fetchHistory(after: date)
    request.resultType = .count
    return request
  }
}

private final class SpyHistoryResult: NSPersistentHistoryResult {
  override var result: Any? { [SpyTransaction(author: "widget", changes: [SpyChange()])] }
  override var resultType: NSPersistentHistoryResultType { .transactionsAndChanges }
}

private final class SpyDeletion: NSBatchDeleteResult {
  override var result: Any? { [NSManagedObjectID()] }
  override var resultType: NSBatchDeleteRequestResultType { .resultTypeObjectIDs }
}

private final class SpyInsertion: NSBatchInsertResult {
  override var result: Any? { 3 }
}

private final class SpyUpdate: NSBatchUpdateResult {
  override var result: Any? { 2 }
}

private class SpyID: NSManagedObjectID, @unchecked Sendable {
  override var isTemporaryID: Bool { false }
  override func uriRepresentation() -> URL { URL(string: "x-coredata://Spy/Book/p1")! }
}

private class SpyComparison: NSComparisonPredicate {
  init(title: String) {
    super.init(
      leftExpression: NSExpression(forKeyPath: "title"),
      rightExpression: NSExpression(forConstantValue: title), modifier: .direct, type: .equalTo, options: [])
  }
}

/// A controller of one entity whose superclass supports delegates for any.
private final class EntityResultsController<Object: NSManagedObject>:
  NSFetchedResultsController<any NSFetchRequestResult>
{
  init(of request: NSFetchRequest<Object>, in context: NSManagedObjectContext) {
    super.init(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  }
  var typedObjects: [Object] { fetchedObjects as? [Object] ?? [] }
}

@Suite("Test doubles of Core Data's classes")
struct TestDoubleTests {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _spy = SpyContext(.privateQueue)

  init() throws {
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: GenericCreationTests.model)
    try _coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    _spy.persistentStoreCoordinator = _coordinator
  }

  @Test func `a context's overrides do not affect the engine's own work`() throws {
    try _spy.performAndWait {
      let publication = Publication(title: "Vogue", in: _spy)
      #expect(!_spy.hasChanges)
      #expect(_spy.insertedObjects.isEmpty)
      _spy.calls = []
      // The insertion is saved, whatever the double returns.
      try _spy.save()
      #expect(_spy.calls == [])
      #expect(!publication.objectID.isTemporaryID)
      #expect(throws: Refusal.self) { try _spy.existingObject(with: publication.objectID) }
    }
    #expect(_spy.calls.last == "existingObject")
  }

  @Test func `typed fetches and counts call overridden untyped ones`() throws {
    let request = NSFetchRequest<Publication>(entityName: "Publication")
    let found = try _spy.performAndWait { try _spy.fetch(request).count }
    #expect(found == 0)
    #expect(request.entity?.name == "Publication")
    let count = try _spy.performAndWait { try _spy.count(for: request) }
    #expect(count == 0)
    #expect(_spy.calls.filter { $0 != "performAndWait" } == ["fetch", "count"])
    _spy.fetchError = Refusal()
    #expect(throws: Refusal.self) { try _spy.performAndWait { try _spy.fetch(request) } }
  }

  @Test func `blocks that return values run where a double runs blocks`() async throws {
    #expect(_spy.performAndWait { 1 } == 1)
    #expect(throws: Refusal.self) { try _spy.performAndWait { throw Refusal() } }
    #expect(await _spy.perform(schedule: .enqueued) { 2 } == 2)
    #expect(_spy.calls == ["performAndWait", "performAndWait", "perform"])
  }

  @Test func `a coordinator's overridden members are called`() throws {
    let spy = SpyCoordinator(managedObjectModel: GenericCreationTests.model)
    #expect(throws: Refusal.self) {
      try spy.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/"))
    }
    #expect(throws: Refusal.self) { try spy.finishDeferredLightweightMigration() }
    let container = NSPersistentContainer(name: "Spied", managedObjectModel: GenericCreationTests.model)
    #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test func `an object's overridden members are called`() throws {
    let entity = try #require(GenericCreationTests.model.entitiesByName["Publication"])
    let object = SpyObject(entity: entity, insertInto: nil)
    object.setValue("Vogue", forKey: "title")
    #expect(object.value(forKey: "title") as? String == "Vogue")
    #expect(object.value(forKeyPath: "title") == nil)
    #expect(!object.hasChanges)
  }

  @Test func `a history made by a test answers what it overrides`() throws {
    let transactions = try #require(SpyHistoryResult().result as? [NSPersistentHistoryTransaction])
    #expect(transactions.first?.author == "widget")
    #expect(transactions.first?.changes?.first?.changeType == .delete)
    #expect(transactions.first?.changes?.first?.tombstone?["title"] as? String == "Vogue")
    // Inherited methods work together with overridden ones.
    let deleted = transactions.first?.objectIDNotification().userInfo?[NSDeletedObjectIDsKey]
    #expect((deleted as? Set<NSManagedObjectID>)?.count == 1)
    #expect(transactions.first?.contextName == nil)
    #expect(SpyHistoryRequest.fetchHistory(after: .distantPast).resultType == .count)
    #expect(SpyToken() == NSPersistentHistoryToken())
  }

  @Test func `results of a test's batch requests can be overridden`() {
    #expect((SpyDeletion().result as? [NSManagedObjectID])?.count == 1)
    #expect(SpyDeletion().resultType == .resultTypeObjectIDs)
    #expect(SpyInsertion().result as? Int == 3)
    #expect(SpyInsertion().resultType == .statusOnly)
    #expect(SpyUpdate().result as? Int == 2)
    #expect(SpyUpdate().resultType == .statusOnlyResultType)
  }

  @Test func `an object ID made by a test answers what it overrides`() {
    let id = SpyID()
    #expect(!id.isTemporaryID)
    #expect(id.description == "x-coredata://Spy/Book/p1")
    #expect(id == id)
    #expect(id != NSManagedObjectID())
  }

  @Test func `a subclass of a comparison works as the comparison`() {
    let predicate = SpyComparison(title: "Vogue")
    #expect(predicate.evaluate(with: ["title": "Vogue"]))
    #expect(!predicate.evaluate(with: ["title": "Elle"]))
    #expect(predicate.description == "title == \"Vogue\"")
  }

  @Test func `a controller of any results serves a request of one class`() throws {
    try _spy.performAndWait {
      _ = Publication(title: "Vogue", in: _spy)
      let request = NSFetchRequest<Publication>(entityName: "Publication")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = EntityResultsController(of: request, in: _spy)
      try controller.performFetch()
      #expect(controller.typedObjects.map(\.title) == ["Vogue"])
    }
  }
}

@Suite("NSObject initializers and key paths of any root")
struct PlainInitializerTests {
  private struct Shelf {
    struct Place { var room: String }
    var place: Place
  }

  @Test func `a coordinator, a predicate and conflicts are made of nothing`() {
    #expect(NSPersistentStoreCoordinator().persistentStores.isEmpty)
    #expect(NSPredicate().evaluate(with: nil))
    #expect(NSConstraintConflict().conflictingObjects.isEmpty)
  }

  @Test func `an expression is made of a key path of any root`() {
    #expect(NSExpression(forKeyPath: \Shelf.place.room).keyPath == "place.room")
  }
}

/// Switches over enumerations, as in application code that displays or converts any attribute.
@Suite struct EnumerationTests {
  private func isNumber(_ type: NSAttributeType) -> Bool {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
      .doubleAttributeType, .floatAttributeType, .booleanAttributeType:
      true
    case .undefinedAttributeType, .stringAttributeType, .dateAttributeType, .binaryDataAttributeType,
      .UUIDAttributeType, .URIAttributeType, .transformableAttributeType, .objectIDAttributeType,
      .compositeAttributeType:
      false
    @unknown default: false
    }
  }

  @Test func `a switch over attribute types can be exhaustive`() {
    #expect(isNumber(.integer16AttributeType))
    #expect(!isNumber(.stringAttributeType))
  }
}
