import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct BatchTests {
  @Test func `a batch inserts many rows`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      let rows = (0..<2500).map { ["firstName": "p\($0)", "age": $0 % 100] as [String: Any] }
      let request = NSBatchInsertRequest(entityName: "Person", objects: rows)
      request.resultType = .count
      let result = try context.execute(request) as? NSBatchInsertResult
      #expect(result?.result as? Int == 2500)
      try #expect(context.all("Person", "age == 7").count == 25)
    }
  }

  @Test func `a batch insertion takes over rows with the same unique value`() throws {
    let stack = try ServerStack()
    let context = stack.context(.mergeByPropertyObjectTrump)
    try context.performAndWait {
      context.make("Tag", ["name": "a"])
      try context.save()
      let request = NSBatchInsertRequest(
        entityName: "Tag", objects: [["name": "a"], ["name": "b"], ["name": "b"]])
      try context.execute(request)
      try #expect(context.texts("Tag", "name") == ["a", "b"])
    }
  }

  @Test func `a batch sets values and computed ones`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<10 { context.make("Person", ["firstName": "p", "age": number, "isActive": true]) }
      try context.save()
      let request = NSBatchUpdateRequest(entityName: "Person")
      request.predicate = NSPredicate(format: "age >= 5")
      request.propertiesToUpdate = [
        "firstName": "old", "isActive": false,
        "points": NSExpression(format: "age + 100"),
      ]
      request.resultType = .updatedObjectsCountResultType
      let result = try context.execute(request) as? NSBatchUpdateResult
      #expect(result?.result as? Int == 5)
      context.reset()
      try #expect(context.all("Person", "firstName == 'old' AND isActive == NO").count == 5)
      try #expect(context.all("Person", "points == 109").count == 1)
    }
  }

  @Test func `whole numbers of all sizes are calculated with as whole numbers`() throws {
    let context = try ServerStack().context()
    try context.performAndWait {
      context.make("Person", ["age": 2, "points": 7, "total": 7])
      context.make("Person", ["age": -2, "points": 2_000_000_011, "total": 0])
      try context.save()
      for (expression, expected) in [
        ("points / age", [-1_000_000_005, 3]), ("age / points", [0, 0]), ("age / age", [1, 1]),
        ("points / points", [1, 1]), ("points * points", [4_000_000_044_000_000_121, 49]),
        ("7 / age", [-3, 3]), ("7 / 2", [3, 3]), ("age * 3 / 2", [-3, 3]),
      ] {
        let request = NSBatchUpdateRequest(entityName: "Person")
        request.propertiesToUpdate = ["total": NSExpression(format: expression)]
        try context.execute(request)
        context.reset()
        let totals = try context.all("Person", sortedBy: "age").map { $0.value(forKey: "total") as? Int }
        #expect(totals == expected, "\(expression)")
      }
      try #expect(context.all("Person", "points / age == 3").count == 1)
    }
  }

  @Test func `a batch deletes rows and what points at them`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "A"])
      context.make(
        "Person", ["firstName": "p", "employer": company, "tags": Set([context.make("Tag", ["name": "t"])])])
      try context.save()
      try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Company")))
      try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")))
      context.reset()
      let person = try #require(context.all("Person", "employer == nil AND tags.@count == 0").first)
      #expect(person.value(forKey: "employer") == nil)
      try #expect(context.all("Company").isEmpty)
    }
  }
}
