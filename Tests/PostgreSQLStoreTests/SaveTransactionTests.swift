import CoreData
import CoreDataPostgreSQL
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

/// SQL of the program's own in the transaction of a save.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct SaveTransactionTests {
  private let _stack: ServerStack
  private let _session: ServerSession
  private let _outbox: String

  init() throws {
    _stack = try ServerStack()
    _session = try ServerSession(_stack)
    _outbox = "\(_session.schema).outbox"
    try _session.connection.execute("CREATE TABLE \(_outbox) (company bigint, event jsonb NOT NULL)")
  }

  private struct Refused: Error, Equatable {}

  private func _events() throws -> Int64 {
    try _session.number("SELECT count(*) FROM \(_outbox) WHERE $1::text = ''", "")
  }

  private func _names() throws -> [String] {
    let context = try ServerStack(at: _stack.url).context()
    return try context.performAndWait { try context.texts("Company", "name") }
  }

  private func _put(_ sql: PostgreSQLSaveTransaction, _ company: Any?) throws { try Self._put(sql, company) }

  private static func _put(_ sql: PostgreSQLSaveTransaction, _ company: Any?) throws {
    try sql.run("INSERT INTO \(sql.schema).outbox VALUES ($1, $2)", company, #"{"kind": "made"}"#)
  }

  @Test func `both are stored, and an inserted object has its key`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      try context.save { try _put($0, company) }
      #expect(!context.hasChanges)
    }
    let joined = try _session.number(
      "SELECT count(*) FROM \(_outbox) o JOIN \(_session.schema).company c ON c.id = o.company WHERE c.name = $1::text",
      "a")
    #expect(joined == 1)
  }

  @Test func `without changes it is stored as well`() throws {
    let context = _stack.context()
    try context.performAndWait { try context.save { try _put($0, nil) } }
    try #expect(_events() == 1)
  }

  @Test func `an error of the block is thrown as it is, and nothing is stored`() throws {
    let context = _stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      #expect(throws: Refused()) {
        try context.save { sql in
          try _put(sql, nil)
          throw Refused()
        }
      }
      #expect(context.insertedObjects.count == 1)
      try #expect(_events() == 0)
      try #expect(_names() == [])
      try context.save()
    }
    try #expect(_names() == ["a"])
  }

  @Test func `a failed statement fails the save, caught or not`() throws {
    let context = _stack.context()
    context.performAndWait {
      context.make("Company", ["name": "a"])
      for catches in [false, true] {
        let error = #expect(throws: CocoaError.self) {
          try context.save { sql in
            if catches {
              _ = try? sql.run("INSERT INTO \(sql.schema).outbox VALUES (1, NULL)")
              _ = try? sql.run("SELECT 1")
            } else {
              try sql.run("INSERT INTO \(sql.schema).outbox VALUES (1, NULL)")
            }
          }
        }
        let cause = error?.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.domain == PostgreSQLErrorDomain)
        #expect(cause?.userInfo[PostgreSQLStateErrorKey] as? String == "23502")
      }
    }
    try #expect(_events() == 0)
    try #expect(_names() == [])
  }

  @Test(arguments: [
    "COMMIT", " rollback", "/* a /* nested */ comment */ BEGIN", "-- a line\nSAVEPOINT s", "; END",
    "SET search_path = a", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "LISTEN a",
    "COPY company FROM STDIN", "DISCARD ALL",
  ])
  func `commands that do not belong there are refused`(_ command: String) throws {
    let context = _stack.context()
    context.performAndWait {
      context.make("Company", ["name": "a"])
      #expect(throws: CocoaError.self) { try context.save { try $0.run(command) } }
    }
    try #expect(_names() == [])
  }

  @Test func `what is set for the transaction is set`() throws {
    let context = _stack.context()
    try context.performAndWait {
      try context.save { sql in
        try sql.run("SET LOCAL statement_timeout = 4321")
        #expect(try sql.rows("SHOW statement_timeout").first?["statement_timeout"] as? String == "4321ms")
      }
      try context.save { sql in
        let timeout = try sql.rows("SHOW statement_timeout").first?["statement_timeout"] as? String
        #expect(timeout != "4321ms")
      }
    }
  }

  @Test func `values come back as they were given`() throws {
    let context = _stack.context()
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    let uuid = UUID()
    try context.performAndWait {
      try context.save { sql in
        let rows = try sql.rows(
          """
          SELECT $1::text AS text, $2::bigint AS whole, $3::float8 AS real, $4::numeric AS decimal, $5::bool AS flag,
          $6::timestamptz AS date, $7::uuid AS uuid, $8::bytea AS data, $9::text AS nothing, $10::jsonb AS json,
          1::int2 AS small, 0.5::float4 AS short
          """, "ä", -7, 0.5, Decimal(string: "12.50")!, true, date, uuid, Data([0, 255]), nil, #"{"a": 1}"#)
        let row = try #require(rows.first)
        #expect(rows.count == 1)
        #expect(row["text"] as? String == "ä")
        #expect(row["whole"] as? Int64 == -7)
        #expect(row["real"] as? Double == 0.5)
        #expect(row["decimal"] as? Decimal == Decimal(string: "12.5"))
        #expect(row["flag"] as? Bool == true)
        #expect(row["date"] as? Date == date)
        #expect(row["uuid"] as? UUID == uuid)
        #expect(row["data"] as? Data == Data([0, 255]))
        #expect(row["nothing"] == nil)
        #expect(row["json"] as? String == #"{"a": 1}"#)
        #expect(row["small"] as? Int64 == 1)
        #expect(row["short"] as? Double == 0.5)
      }
    }
  }

  @Test func `Foundation's objects are taken for their values`() throws {
    let context = _stack.context()
    try context.performAndWait {
      try context.save { sql in
        let nothing: Any = Optional<Int>.none as Any
        let row = try #require(
          try sql.rows(
            "SELECT $1::bigint AS a, $2::bool AS b, $3::text AS c, $4::timestamptz AS d, $5::text AS e",
            NSNumber(value: 1), NSNumber(value: true), NSString(string: "x"),
            NSDate(timeIntervalSinceReferenceDate: 5), nothing
          ).first)
        #expect(row["a"] as? Int64 == 1 && row["b"] as? Bool == true && row["c"] as? String == "x")
        #expect(row["d"] as? Date == Date(timeIntervalSinceReferenceDate: 5) && row["e"] == nil)
      }
    }
  }

  @Test func `a text or a statement with a zero byte is refused, and not cut there`() throws {
    let context = _stack.context()
    for (statement, value) in [("SELECT $1::text", "a\0b"), ("SELECT $1::text \0 -- cut", "a")] {
      context.performAndWait {
        let error = #expect(throws: CocoaError.self) { try context.save { try $0.run(statement, value) } }
        #expect(error?.localizedDescription.contains("zero byte") ?? false)
      }
    }
  }

  @Test func `what has no type here is an error that says so`() throws {
    let context = _stack.context()
    context.performAndWait {
      let column = #expect(throws: CocoaError.self) {
        try context.save { _ = try $0.rows("SELECT '10.0.0.1'::inet AS address") }
      }
      #expect(column?.localizedDescription.contains("'address'") ?? false)
      let value = #expect(throws: CocoaError.self) { try context.save { try $0.run("SELECT $1", [1]) } }
      #expect(value?.localizedDescription.contains("Array<Int>") ?? false)
    }
  }

  @Test func `the number of written rows is returned`() throws {
    let context = _stack.context()
    try context.performAndWait {
      try context.save { sql in
        for _ in 0..<3 { try _put(sql, nil) }
        #expect(try sql.run("DELETE FROM \(sql.schema).outbox") == 3)
      }
    }
  }

  @Test func `a conflict that the merge policy settles is found before it runs`() throws {
    let context = _stack.context()
    let other = try ServerStack(at: _stack.url).context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      try context.save()
      try other.performAndWait {
        try #require(try other.all("Company").first).setValue("theirs", forKey: "name")
        try other.save()
      }
      company.setValue("ours", forKey: "name")
      var runs = 0
      try context.save { sql in
        runs += 1
        try _put(sql, company)
      }
      #expect(runs == 1)
    }
    try #expect(_events() == 1)
    try #expect(_names() == ["ours"])
  }

  @Test func `it is repeated after a deadlock, and stored once`() throws {
    let context = _stack.context()
    var runs = 0
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save { sql in
        runs += 1
        try _put(sql, nil)
        if runs == 1 {
          try sql.run("DO $$ BEGIN RAISE EXCEPTION 'as in a deadlock' USING ERRCODE = '40P01'; END $$")
        }
      }
    }
    #expect(runs == 2)
    try #expect(_events() == 1)
    try #expect(_names() == ["a"])
  }

  @Test func `a lost connection repeats it, and nothing is stored twice`() throws {
    let context = _stack.context()
    var runs = 0
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save { sql in
        runs += 1
        try _put(sql, nil)
        if runs == 1 { _ = try? sql.run("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(1)") }
      }
    }
    #expect(runs == 2)
    try #expect(_events() == 1)
    try #expect(_names() == ["a"])
  }

  /// Renames a company in its row, and notes it.
  private func _rename(_ sql: PostgreSQLSaveTransaction, _ company: NSManagedObject) throws {
    try sql.run(
      "UPDATE \(sql.schema).company SET name = 'b', version = version + 1 WHERE id = $1", company)
    sql.wrote([company.objectID])
  }

  @Test(arguments: [false, true])
  func `a row that it has written is read again, also if the save inserted it`(_ inserts: Bool) throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "a"])
      if !inserts { try context.save() }
      try context.save { try _rename($0, company) }
      let other = _stack.context()
      try other.performAndWait {
        let seen = try other.existingObject(with: company.objectID)
        #expect(seen.value(forKey: "name") as? String == "b")
      }
    }
  }

  @Test func `a COMMIT of a transaction that has failed is an error`() throws {
    let connection = _session.connection
    try connection.begin()
    #expect(throws: (any Error).self) { try connection.run("SELECT 1 / 0", isRepeated: false) }
    let error = #expect(throws: PostgreSQLError.self) { try connection.commit() }
    #expect(error?.state == "25P02")
  }

  @Test func `an object of neither the store nor the save has no key`() throws {
    let context = _stack.context()
    let other = _stack.context()
    let unsaved = other.performAndWait { other.make("Company", ["name": "b"]).objectID }
    context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try context.save { try _put($0, unsaved) } }
      #expect(error?.localizedDescription.contains("neither stored") ?? false)
    }
  }

  @Test func `the transaction is of no use after the save`() throws {
    let context = _stack.context()
    try context.performAndWait {
      var kept: PostgreSQLSaveTransaction?
      try context.save { kept = $0 }
      #expect(throws: CocoaError.self) { try kept?.run("SELECT 1") }
    }
  }

  @Test func `a child, and a coordinator without such a store, are told so`() throws {
    let parent = _stack.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    let alone = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    for (context, part) in [(child, "parent"), (alone, "0 PostgreSQL stores")] {
      context.performAndWait {
        let error = #expect(throws: CocoaError.self) { try context.save { try $0.run("SELECT 1") } }
        #expect(error?.localizedDescription.contains(part) ?? false)
      }
    }
  }

  @Test func `of two stores the one that is named has it, and both fail together`() throws {
    let coordinator = _stack.coordinator
    let second = try coordinator.addPersistentStore(
      type: .postgreSQL, configuration: nil, at: try #require(PostgreSQLServer.shared).newURL(), options: nil)
    let context = _stack.context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      #expect(throws: CocoaError.self) { try context.save { try _put($0, nil) } }
      #expect(throws: Refused()) { try context.save(in: second) { _ in throw Refused() } }
      try #expect(_names() == [])
      try context.save(in: _stack.store) { try _put($0, nil) }
    }
    try #expect(_events() == 1)
    try #expect(_names() == ["a"])
  }

  @Test func `history records the save's own changes only, and no save without any`() throws {
    let stack = try ServerStack(options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      try context.save { try $0.run("SELECT 1") }
      context.make("Company", ["name": "a"])
      try context.save { try $0.run("SELECT 1") }
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let found = (try context.execute(request) as? NSPersistentHistoryResult)?.result
      #expect((found as? [NSPersistentHistoryTransaction])?.count == 1)
    }
  }

  @Test func `savers with an outbox lose and double nothing`() throws {
    let problems = Mutex<[String]>([])
    let coordinator = _stack.coordinator
    let threads = (0..<4).map { number in
      Thread {
        for save in 0..<25 {
          do {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
              let company = context.make("Company", ["name": "\(number) \(save)"])
              try context.save { try Self._put($0, company) }
            }
          } catch {
            problems.withLock { $0.append("\(error)") }
          }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    #expect(problems.withLock { $0 } == [])
    let pairs = try _session.number(
      "SELECT count(DISTINCT c.id) FROM \(_outbox) o JOIN \(_session.schema).company c ON c.id = o.company WHERE $1::text = ''",
      "")
    #expect(pairs == 100)
    try #expect(_events() == 100)
  }
}
