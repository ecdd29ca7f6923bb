import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Programs with different versions of a model on one store: side by side while the newer version only adds,
/// and with an error for the older one once it can no longer write.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct EpochTests {
  /// What a version of the model has beside the people and students of the first one.
  enum Version {
    case first
    /// An entity whose name sorts first, and attributes without and with a default.
    case expanded
    /// The same, and one more attribute.
    case expandedAgain
    /// An attribute of an old entity that must have a value.
    case barred
  }

  private static var _migrating: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true,
    ]
  }

  private let _url: URL

  init() throws { _url = try #require(PostgreSQLServer.shared).newURL() }

  private static func _model(_ version: Version) -> NSManagedObjectModel {
    let person = TestModel.entity("Person"), student = TestModel.entity("Student")
    let company = TestModel.entity("Company")
    person.properties = [TestModel.attribute("name", .stringAttributeType)]
    student.properties = [TestModel.attribute("school", .stringAttributeType)]
    company.properties = [TestModel.attribute("name", .stringAttributeType)]
    person.subentities = [student]
    TestModel.relate(company, "boss", person, "leads", toMany: (false, true))
    let model = NSManagedObjectModel()
    model.entities = [person, student, company]
    guard version != .first else { return model }
    let aardvark = TestModel.entity("Aardvark")
    aardvark.properties = [TestModel.attribute("name", .stringAttributeType)]
    model.entities.append(aardvark)
    let rank = TestModel.attribute("rank", .integer32AttributeType)
    rank.isOptional = false
    rank.defaultValue = 7
    person.properties += [TestModel.attribute("alias", .stringAttributeType), rank]
    if version == .expandedAgain {
      person.properties.append(TestModel.attribute("aims", .doubleAttributeType))
    }
    if version == .barred { company.attributesByName["name"]!.isOptional = false }
    return model
  }

  private func _open(_ version: Version, _ options: [AnyHashable: Any] = _migrating) throws -> ServerStack {
    try ServerStack(Self._model(version), at: _url, options: options)
  }

  private func _save(_ entity: String, _ values: [String: Any], in stack: ServerStack) throws {
    let context = stack.context()
    try context.performAndWait {
      context.make(entity, values)
      try context.save()
    }
  }

  private func _names(_ entity: String, in stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait { try context.texts(entity, "name") }
  }

  private func _fails(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
      return nil
    } catch {
      return error as NSError
    }
  }

  // MARK: Side by side

  @Test func `an older program saves and reads beside a newer one`() throws {
    let old = try _open(.first)
    try _save("Student", ["name": "Ada", "school": "A"], in: old)
    let new = try _open(.expanded)
    try _save("Student", ["name": "Bob", "school": "B"], in: old)
    try _save("Student", ["name": "Cyd", "school": "C", "alias": "c", "rank": 1], in: new)
    try _save("Aardvark", ["name": "Arthur"], in: new)
    for stack in [old, new, try _open(.first), try _open(.expanded)] {
      try #expect(_names("Person", in: stack) == ["Ada", "Bob", "Cyd"])
      try #expect(_names("Student", in: stack) == ["Ada", "Bob", "Cyd"])
    }
    try #expect(_names("Aardvark", in: new) == ["Arthur"])
    let context = new.context()
    try context.performAndWait {
      let ranks = try context.all("Person", sortedBy: "name").map { $0.value(forKey: "rank") as? Int }
      #expect(ranks == [7, 7, 1])
    }
  }

  @Test func `an older program updates and deletes beside a newer one`() throws {
    let old = try _open(.first)
    try _save("Student", ["name": "Ada"], in: old)
    try _save("Person", ["name": "Bob"], in: old)
    let new = try _open(.expanded)
    let context = new.context()
    try context.performAndWait {
      try #require(try context.all("Person", "name == 'Ada'").first).setValue("alias", forKey: "alias")
      try context.save()
    }
    let other = try _open(.first).context()
    try other.performAndWait {
      try #require(try other.all("Person", "name == 'Ada'").first).setValue("Eve", forKey: "name")
      other.delete(try #require(try other.all("Person", "name == 'Bob'").first))
      try other.save()
    }
    let fresh = try _open(.expanded).context()
    try fresh.performAndWait {
      let people = try fresh.all("Person")
      #expect(people.map { $0.value(forKey: "name") as? String } == ["Eve"])
      #expect(people.map { $0.value(forKey: "alias") as? String } == ["alias"])
    }
  }

  @Test func `links of both programs refer to the same entities`() throws {
    let old = try _open(.first)
    let new = try _open(.expanded)
    for (name, stack) in [("old", old), ("new", new)] {
      let context = stack.context()
      try context.performAndWait {
        let boss = context.make("Student", ["name": name])
        context.make("Company", ["name": name, "boss": boss])
        try context.save()
      }
    }
    for stack in [try _open(.first), try _open(.expanded)] {
      let context = stack.context()
      try context.performAndWait {
        for company in try context.all("Company") {
          let boss = company.value(forKey: "boss") as? NSManagedObject
          #expect(boss?.entity.name == "Student")
          #expect(boss?.value(forKey: "name") as? String == company.value(forKey: "name") as? String)
        }
        let found = try context.texts(
          "Company", "name", "boss.entity.name == 'Student' AND boss.name == 'old'")
        #expect(found == ["old"])
      }
    }
  }

  @Test func `both programs read the same history`() throws {
    let old = try _open(.first)
    let new = try _open(.expanded)
    try _save("Student", ["name": "old"], in: old)
    try _save("Student", ["name": "new"], in: new)
    for stack in [old, new] {
      let context = stack.context()
      let entities = try context.performAndWait {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        return transactions.flatMap { $0.changes ?? [] }.map { $0.changedObjectID.entity.name }
      }
      #expect(entities == ["Student", "Student"])
    }
  }

  @Test func `an entity keeps its number, and a new one gets the next`() throws {
    _ = try _open(.first)
    let session = try ServerSession(_url)
    func numbers() throws -> [String: Int64] {
      let found = try session.connection.run(
        "SELECT name, number FROM \(session.schema).\"_type\"", isRepeated: false)
      return Dictionary(
        uniqueKeysWithValues: (0..<found.rowCount).map { (found.string($0, 0), found.int64($0, 1)) })
    }
    try #expect(numbers() == ["Company": 1, "Person": 2, "Student": 3])
    _ = try _open(.expanded)
    try #expect(numbers() == ["Company": 1, "Person": 2, "Student": 3, "Aardvark": 4])
    _ = try _open(.barred)
    try #expect(numbers() == ["Company": 1, "Person": 2, "Student": 3, "Aardvark": 4])
  }

  @Test func `a version that only adds writes no row`() throws {
    let old = try _open(.first)
    try _save("Person", ["name": "Ada"], in: old)
    let session = try ServerSession(_url)
    func file() throws -> Int64 {
      try session.number("SELECT pg_relation_filenode($1::text::regclass)", "\(session.schema).person")
    }
    let before = try file()
    _ = try _open(.expanded)
    _ = try _open(.expandedAgain)
    try #expect(file() == before)
    try #expect(_names("Person", in: _open(.expandedAgain)) == ["Ada"])
  }

  @Test func `a view has the columns of all versions`() throws {
    _ = try _open(.first)
    _ = try _open(.expanded)
    _ = try _open(.expandedAgain)
    let session = try ServerSession(_url)
    let count = try session.number(
      "SELECT count(*) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0",
      "\(session.schema).\"_readable_person\"")
    #expect(count == 8)
  }

  @Test func `a version that only adds waits for a reader without holding up others`() throws {
    let old = try _open(.first)
    try _save("Person", ["name": "Ada"], in: old)
    let session = try ServerSession(_url)
    try session.connection.execute("BEGIN")
    try session.connection.execute("LOCK TABLE \(session.schema).person IN ACCESS SHARE MODE")
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var failure: (any Error)?
    Thread.detachNewThread {
      do { _ = try _open(.expanded) } catch { failure = error }
      done.signal()
    }
    // Saves go on between the attempts.
    for number in 0..<5 { try _save("Person", ["name": "B\(number)"], in: old) }
    try session.connection.execute("COMMIT")
    try #require(done.wait(timeout: .now() + 120) == .success)
    #expect(failure == nil)
    try #expect(_names("Person", in: _open(.expanded)).count == 6)
  }

  // MARK: Refused

  @Test func `an older program gets an error once it can no longer write`() throws {
    let old = try _open(.first)
    try _save("Student", ["name": "Ada"], in: old)
    _ = try _open(.barred)
    let error = _fails { try _save("Student", ["name": "Bob"], in: old) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error?.localizedDescription.contains("needs number 2") == true, "\(String(describing: error))")
    try #expect(_names("Person", in: _open(.barred)) == ["Ada"])
  }

  /// What several threads have saved.
  private final class Log: @unchecked Sendable {
    // Unchecked: guarded by the lock.
    private let _lock = NSLock()
    private var _saved: Set<String> = []
    private var _errors: [NSError] = []

    func save(_ name: String) { _lock.withLock { _ = _saved.insert(name) } }
    func fail(_ error: any Error) { _lock.withLock { _errors.append(error as NSError) } }
    var saved: Set<String> { _lock.withLock { _saved } }
    var errors: [NSError] { _lock.withLock { _errors } }
  }

  @Test func `saves of an older program are stored or refused while newer ones migrate`() throws {
    let old = try _open(.first)
    let log = Log()
    let threads = DispatchGroup()
    for thread in 0..<3 {
      threads.enter()
      Thread.detachNewThread {
        defer { threads.leave() }
        do {
          for number in 0... {
            let name = "\(thread)-\(number)"
            try _save("Student", ["name": name], in: old)
            log.save(name)
          }
        } catch {
          log.fail(error)
        }
      }
    }
    func savedAtLeast(_ count: Int) -> Bool {
      for _ in 0..<6000 where log.saved.count < count { usleep(10_000) }
      return log.saved.count >= count
    }
    #expect(savedAtLeast(20))
    let expanded = try _open(.expanded)
    #expect(savedAtLeast(log.saved.count + 20))
    #expect(log.errors == [])
    try _save("Aardvark", ["name": "Arthur"], in: expanded)
    let barred = try _open(.barred)
    try #require(threads.wait(timeout: .now() + 120) == .success)
    #expect(
      log.errors.map(\.code) == Array(repeating: NSPersistentStoreIncompatibleVersionHashError, count: 3))
    let context = barred.context()
    try context.performAndWait {
      let people = try context.all("Person")
      #expect(Set(people.compactMap { $0.value(forKey: "name") as? String }) == log.saved)
      #expect(people.allSatisfy { $0.entity.name == "Student" })
    }
    // Also of a version in between.
    let error = _fails { try _save("Aardvark", ["name": "Anna"], in: expanded) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test func `an older program can no longer write in batches, history or metadata`() throws {
    let old = try _open(.first)
    try _save("Student", ["name": "Ada"], in: old)
    let new = try _open(.barred)
    let context = old.context()
    let errors = context.performAndWait {
      [
        _fails {
          try context.execute(
            NSBatchInsertRequest(entityName: "Person", objects: [["name": "Bob"]]))
        },
        _fails {
          let request = NSBatchUpdateRequest(entityName: "Person")
          request.propertiesToUpdate = ["name": "Eve"]
          try context.execute(request)
        },
        _fails {
          try context.execute(
            NSBatchDeleteRequest(
              fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")))
        },
        _fails {
          try context.execute(
            NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        },
      ]
    }
    #expect(
      errors.map { $0?.code } == Array(repeating: NSPersistentStoreIncompatibleVersionHashError, count: 4))
    try #expect(_names("Person", in: new) == ["Ada"])
  }

  @Test func `a restart of an older version neither migrates nor opens the store`() throws {
    _ = try _open(.first)
    _ = try _open(.barred)
    let error = _fails { _ = try _open(.first) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    let session = try ServerSession(_url)
    try #expect(
      session.number(
        "SELECT count(*) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = 'rank'",
        "\(session.schema).person") == 1)
  }

  @Test func `an older program does not write its version into the metadata`() throws {
    let old = try _open(.first)
    let new = try _open(.expanded)
    old.coordinator.setMetadata(["note": "kept"], for: old.store)
    try _save("Person", ["name": "Ada"], in: old)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSPostgreSQLStoreType, at: _url, options: nil)
    #expect(metadata["note"] as? String == "kept")
    #expect(
      new.coordinator.managedObjectModel.isConfiguration(
        withName: nil, compatibleWithStoreMetadata: metadata))
  }

  // MARK: Older packages

  /// Makes the store what an older version of the package has made.
  private func _takeBackLayout() throws {
    let session = try ServerSession(_url)
    let found = try session.connection.run(
      "SELECT \"content\" FROM \(session.schema).\"_metadata\"", isRepeated: false)
    var list = try #require(
      try PropertyListSerialization.propertyList(from: Data(found.bytes(0, 0)), format: nil)
        as? [String: Any])
    list[PostgreSQLVersions.layoutKey] = 1
    var parameters = PostgreSQLParameters()
    parameters.add(
      bytes: try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
    try session.connection.run(
      "UPDATE \(session.schema).\"_metadata\" SET \"content\" = $1::bytea", parameters, isRepeated: false)
    for table in ["_epoch", "_model", "_type"] {
      try session.connection.execute("DROP TABLE \(session.schema).\"\(table)\"")
    }
    try session.connection.execute("ALTER TABLE \(session.schema).\"_receipt\" DROP COLUMN \"epoch\"")
  }

  @Test func `a store of an older package gets its epochs when it is opened`() throws {
    let stack = try _open(.first)
    try _save("Student", ["name": "Ada"], in: stack)
    try stack.coordinator.remove(stack.store)
    try _takeBackLayout()
    let reading = try _open(.first, [NSReadOnlyPersistentStoreOption: true])
    try #expect(_names("Student", in: reading) == ["Ada"])
    let old = try _open(.first)
    let new = try _open(.expanded)
    try _save("Student", ["name": "Bob"], in: old)
    try #expect(_names("Student", in: new) == ["Ada", "Bob"])
  }

  @Test func `a program built with the older package fails after the first migration`() throws {
    let stack = try _open(.first)
    try stack.coordinator.remove(stack.store)
    try _takeBackLayout()
    _ = try _open(.first)
    let session = try ServerSession(_url)
    let receipt = "INSERT INTO \(session.schema).\"_receipt\" (\"id\") VALUES (gen_random_uuid())"
    try session.connection.execute(receipt)
    _ = try _open(.expanded)
    #expect(throws: PostgreSQLError.self) { try session.connection.execute(receipt) }
  }

  @Test(arguments: [Version.expanded, .barred])
  func `a migration that gives up names who uses the tables`(version: Version) throws {
    _ = try _open(.first)
    let session = try ServerSession(_url)
    try session.connection.execute("SET application_name = 'nightly report'")
    try session.connection.execute("BEGIN")
    try session.connection.execute("SELECT count(*) FROM \(session.schema).person")
    let options = Self._migrating.merging([NSPostgreSQLDeadlineOption: 1]) { $1 }
    let error = try #require(_fails { _ = try _open(version, options) })
    #expect(error.code == NSPersistentStoreTimeoutError)
    let text = (error as? CocoaError)?.debugText ?? ""
    #expect(text.contains("session \(session.connection.processID) of 'coredata' (nightly report)"))
    try session.connection.execute("ROLLBACK")
    _ = try _open(version, options)
  }
}
