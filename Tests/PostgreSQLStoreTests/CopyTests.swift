import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Saves of many new rows, which use COPY.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct CopyTests {
  private static let _decimals = [
    "0", "1", "-1", "10", "10000", "9999", "99999999.9999", "0.5", "-0.5", "0.0001", "0.00001", "100.001",
    "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001", "1230000",
    "10000.0001", "NaN",
  ]

  @Test func `values of all types come back as they were`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    func person(_ number: Int) -> [String: Any] {
      let decimal = Decimal(string: Self._decimals[number % Self._decimals.count], locale: nil) ?? .nan
      return [
        "firstName": "Ä\(number) '\"\\\t\n", "age": Int16(truncatingIfNeeded: number &* 7919),
        "points": Int32(truncatingIfNeeded: number &* 1_299_709), "total": Int64(number) &* 4_611_686_018_427,
        "height": Double(number) / 3, "weight": Float(number) / 7, "isActive": number % 2 == 0,
        "birthday": Date(timeIntervalSinceReferenceDate: Double(number) * 1e5 + 0.125),
        "token": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number))),
        "wage": NSDecimalNumber(decimal: decimal), "photo": Data((0..<UInt8(number)).map { $0 ^ 0xA5 }),
        "homePage": URL(string: "https://example.org/\(number)?a=%20")!,
      ]
    }
    try context.performAndWait {
      for number in 0..<100 { context.make("Person", person(number)) }
      // Includes a row of nulls.
      context.make("Student", ["school": "s"])
      context.make("Person", [:])
      try context.save()
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait {
      let found = try fresh.all("Person", "total != nil", sortedBy: "total")
      #expect(found.count == 100)
      for (number, object) in found.enumerated() {
        for (key, value) in person(number) {
          #expect(object.value(forKey: key) as? NSObject == value as? NSObject, "\(key) of \(number)")
        }
      }
      #expect(try fresh.all("Person", "firstName == nil").count == 2)
    }
  }

  @Test func `a decimal is the number that its text says`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<60 {
        let text = Self._decimals[number % Self._decimals.count]
        let wage = NSDecimalNumber(decimal: Decimal(string: text, locale: nil) ?? .nan)
        context.make("Person", ["firstName": text, "wage": wage])
      }
      try context.save()
    }
    let session = try ServerSession(stack)
    let others = try session.number(
      "SELECT count(*) FROM \(session.schema).person WHERE wage <> first_name::numeric AND first_name <> $1::text",
      "")
    #expect(others == 0)
  }

  @Test func `rows go by INSERT where policies forbid COPY`() throws {
    let prepared = try PreparedSchema(TestModel.make())
    for statement in [
      "ALTER TABLE company ENABLE ROW LEVEL SECURITY", "CREATE POLICY everything ON company USING (true)",
    ] { try prepared.session.connection.execute(statement) }
    let context = try ServerStack(at: prepared.url).context()
    try context.performAndWait {
      for number in 0..<100 { context.make("Company", ["name": "\(number)"]) }
      try context.save()
      #expect(try context.all("Company").count == 100)
    }
  }

  @Test func `a value that cannot be stored stops a COPY`() throws {
    let context = try ServerStack().context()
    try context.performAndWait {
      for number in 0..<100 { context.make("Note", ["text": number == 70 ? "a\0b" : "\(number)"]) }
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.localizedDescription.contains("zero byte") ?? false)
      for note in try context.all("Note", "text CONTAINS 'b'") { note.setValue("c", forKey: "text") }
      try context.save()
      #expect(try context.all("Note").count == 100)
    }
  }

  @Test func `a COPY that breaks a constraint is a conflict`() throws {
    let context = try ServerStack().context()
    try context.performAndWait {
      context.make("Tag", ["name": "7"])
      try context.save()
      for number in 0..<100 { context.make("Tag", ["name": "\(number)"]) }
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      #expect(try context.all("Tag").count == 100)
    }
  }
}
