import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct StoreTests {
  @Test func `a new stack reads what another one has saved`() throws {
    let first = try ServerStack()
    let context = first.context()
    try context.performAndWait {
      context.make("Company", ["name": "Zürich"])
      try context.save()
    }
    let second = try ServerStack(at: first.url)
    let other = second.context()
    try other.performAndWait { try #expect(other.texts("Company", "name") == ["Zürich"]) }
    #expect(first.store.identifier == second.store.identifier)
    #expect(first.store.type == "PostgreSQL")
  }

  @Test func `values of all types come back as they were saved`() throws {
    let stack = try ServerStack()
    let values: [String: NSObject] = [
      "firstName": "ß😀 é" as NSString, "age": NSNumber(value: Int16.min),
      "points": NSNumber(value: Int32.max),
      "total": NSNumber(value: Int64.max), "height": NSNumber(value: 0.1 + 0.2),
      "weight": NSNumber(value: Float(1.5)), "isActive": NSNumber(value: true),
      "birthday": NSDate(timeIntervalSinceReferenceDate: 822_222_222.123_456_7),
      "token": NSUUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!,
      "wage": NSDecimalNumber(string: "12345678901234567890.123456789"),
      "photo": NSData(data: Data([0, 255, 128, 0])), "homePage": NSURL(string: "https://example.org/?q=1")!,
    ]
    let context = stack.context()
    try context.performAndWait {
      context.make("Person", values)
      context.make("Person", [:])
      try context.save()
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait {
      let person = try #require(fresh.all("Person", "firstName != nil").first)
      let empty = try #require(fresh.all("Person", "firstName == nil").first)
      for (key, value) in values {
        if key != "photo" { #expect("\(person.value(forKey: key)!)" == "\(value)", "\(key)") }
        #expect(empty.value(forKey: key) == nil, "\(key)")
      }
      #expect(person.value(forKey: "photo") as? Data == Data([0, 255, 128, 0]))
      #expect((person.value(forKey: "height") as? NSNumber)?.doubleValue == 0.1 + 0.2)
      #expect(
        (person.value(forKey: "birthday") as? Date)?.timeIntervalSinceReferenceDate == 822_222_222.123_456_7)
    }
  }

  @Test func `updates and deletions are saved`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<20 { context.make("Person", ["firstName": "p\(number)", "age": number]) }
      try context.save()
      for person in try context.all("Person", "age < 5") { person.setValue("young", forKey: "firstName") }
      for person in try context.all("Person", "age >= 15") { context.delete(person) }
      try context.save()
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait {
      try #expect(fresh.all("Person").count == 15)
      try #expect(fresh.all("Person", "firstName == 'young'").count == 5)
    }
  }

  @Test func `a subentity's objects are found as their parent's`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      context.make("Person", ["firstName": "plain"])
      context.make("Student", ["firstName": "student", "school": "S"])
      try context.save()
      context.reset()
      try #expect(context.texts("Person", "firstName") == ["plain", "student"])
      let student = try #require(context.all("Person", "firstName == 'student'").first)
      #expect(student.entity.name == "Student")
      #expect(student.value(forKey: "school") as? String == "S")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.includesSubentities = false
      try #expect(context.count(for: request) == 1)
    }
  }

  @Test func `a text with a zero byte is refused by name`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    context.performAndWait {
      context.make("Company", ["name": "a\0b"])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.localizedDescription.contains("Company.name") ?? false)
    }
  }

  @Test func `a destroyed store is gone`() throws {
    let stack = try ServerStack()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSPostgreSQLStoreType, at: stack.url)
    #expect(metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
    try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: NSPostgreSQLStoreType)
    #expect(throws: CocoaError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSPostgreSQLStoreType, at: stack.url)
    }
  }

  @Test func `no error shows a password`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let url = URL(string: "postgresql://coredata:s3cret@127.0.0.1:\(server.port)/nowhere?schema=x")!
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
    }
    let shown = "\(String(describing: error)) \(String(describing: error?.userInfo))"
    #expect(!shown.contains("s3cret"))
    #expect(shown.contains("nowhere"))
  }

  @Test func `a store of another model version is not opened`() throws {
    let stack = try ServerStack()
    let model = TestModel.make()
    model.entitiesByName["Note"]!.properties.append(TestModel.attribute("more", .stringAttributeType))
    let error = #expect(throws: CocoaError.self) { try ServerStack(model, at: stack.url) }
    #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test func `a save on a full disk fails with the server's words, and can be repeated`() throws {
    let stack = try ServerStack()
    let session = try ServerSession(stack)
    for statement in [
      """
      CREATE FUNCTION \(session.schema).fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
      """,
      """
      CREATE TRIGGER fill BEFORE INSERT ON \(session.schema).company \
      FOR EACH ROW EXECUTE FUNCTION \(session.schema).fill()
      """,
    ] { try session.connection.execute(statement) }
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      context.make("Tag", ["name": "a"])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect("\(error as Any)".contains("No space left on device"))
      let other = stack.context()
      try other.performAndWait { try #expect(other.all("Tag").isEmpty) }
      try session.connection.execute("DROP TRIGGER fill ON \(session.schema).company")
      try context.save()
      try #expect(context.texts("Company", "name") == ["a"])
    }
  }

  @Test func `stores are reached by TCP`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let stack = try ServerStack(at: server.newTCPURL())
    let context = stack.context()
    try context.performAndWait {
      context.make("Tag", ["name": "x"])
      try context.save()
    }
  }
}
