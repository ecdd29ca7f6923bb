import CoreData
import Foundation
import Testing

/// Fetches of dictionaries, with equal results in SQL and in memory.
@Suite struct DictionaryFetchTests {
  /// Three authors; Ann has two books, Bob one novel, Cid none.
  private func _library(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let ann = context.insert("Author", ["name": "Ann", "age": 50])
      let bob = context.insert("Author", ["name": "Bob", "age": 30])
      context.insert("Author", ["name": "Cid", "age": 20])
      bob.setValue(ann, forKey: "mentor")
      let date = Date(timeIntervalSinceReferenceDate: 1000)
      context.insert(
        "Book",
        [
          "title": "A", "pages": 10, "price": 1.5, "cost": Decimal(string: "2.25")!, "author": ann,
          "published": date,
        ])
      context.insert("Book", ["title": "B", "pages": 20, "price": 2.5, "author": ann])
      context.insert("Novel", ["title": "C", "pages": 30, "genre": "noir", "author": bob])
      try context.save()
    }
    return stack
  }

  private func _rows(_ stack: TestStack, _ entity: String, _ set: (NSFetchRequest<NSDictionary>) -> Void)
    throws -> [[String: AnyHashable]]
  {
    let request = NSFetchRequest<NSDictionary>(entityName: entity)
    request.resultType = .dictionaryResultType
    set(request)
    return try stack.context.performAndWait {
      try stack.context.fetch(request).map { dictionary in
        var row: [String: AnyHashable] = [:]
        for (key, value) in dictionary { row[key as! String] = value as? AnyHashable }
        return row
      }
    }
  }

  private func _column(_ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType)
    -> NSExpressionDescription
  {
    let column = NSExpressionDescription()
    column.name = name
    column.expression = NSExpression(format: format)
    column.expressionResultType = type
    return column
  }

  private let _byTitle = [NSSortDescriptor(key: "title", ascending: true)]

  @Test(arguments: Setting.direct) func `without properties every attribute that is not nil is there`(
    _ setting: Setting
  )
    throws
  {
    let rows = try _rows(_library(setting), "Author") { $0.predicate = NSPredicate(format: "name == 'Ann'") }
    #expect(rows == [["name": "Ann", "age": NSNumber(value: 50)]])
  }

  @Test(arguments: Setting.direct) func `names key paths and to-ones can be selected`(_ setting: Setting)
    throws
  {
    let stack = try _library(setting)
    let rows = try _rows(stack, "Book") {
      $0.propertiesToFetch = ["title", "author", "author.name", "author.mentor.name"]
      $0.sortDescriptors = _byTitle
    }
    #expect(rows.map { $0["author.name"] } == ["Ann", "Ann", "Bob"].map { AnyHashable($0) })
    #expect(rows.map { $0["author.mentor.name"] } == [nil, nil, "Ann"])
    let ann = try stack.context.performAndWait {
      try stack.context.all("Author", where: NSPredicate(format: "name == 'Ann'"))[0].objectID
    }
    #expect(rows[0]["author"] == AnyHashable(ann))
  }

  @Test(arguments: Setting.direct) func `object ID is a column`(_ setting: Setting) throws {
    let stack = try _library(setting)
    let column = NSExpressionDescription()
    column.name = "id"
    column.expression = NSExpression.expressionForEvaluatedObject()
    column.expressionResultType = .objectIDAttributeType
    let rows = try _rows(stack, "Book") {
      $0.propertiesToFetch = ["objectID", column]
      $0.sortDescriptors = _byTitle
    }
    let ids = try stack.context.performAndWait { try stack.context.all("Book", by: "title").map(\.objectID) }
    #expect(rows.map { $0["objectID"] } == ids.map { AnyHashable($0) })
    #expect(rows.map { $0["id"] } == ids.map { AnyHashable($0) })
    #expect((rows[2]["objectID"]?.base as? NSManagedObjectID)?.entity.name == "Novel")
  }

  @Test(arguments: Setting.direct) func `values come as their attributes types`(_ setting: Setting) throws {
    let rows = try _rows(_library(setting), "Book") {
      $0.propertiesToFetch = ["cost", "published", "inPrint"]
      $0.predicate = NSPredicate(format: "title == 'A'")
    }
    #expect(rows[0]["cost"] == AnyHashable(NSDecimalNumber(string: "2.25")))
    #expect(rows[0]["published"] == AnyHashable(Date(timeIntervalSinceReferenceDate: 1000)))
    #expect(rows[0]["inPrint"] == AnyHashable(true))
  }

  @Test(arguments: Setting.direct) func `a computed value has the type that is asked for`(_ setting: Setting)
    throws
  {
    let rows = try _rows(_library(setting), "Book") {
      $0.propertiesToFetch = [
        _column("exact", "sum:(pages)", .decimalAttributeType),
        _column("precise", "sum:(pages)", .doubleAttributeType),
        _column("whole", "sum:(pages)", .integer64AttributeType),
        _column("when", "now()", .dateAttributeType),
      ]
    }
    let row = try #require(rows.first)
    let sum = try #require(row["whole"]?.base as? Int64)
    #expect(sum > 0)
    #expect(row["exact"]?.base is NSDecimalNumber)
    #expect(row["exact"] == AnyHashable(NSDecimalNumber(value: sum)))
    #expect(row["precise"]?.base as? Double == Double(sum))
    #expect(row["when"]?.base is Date)
  }

  @Test(arguments: Setting.direct) func `functions are computed for each row`(_ setting: Setting) throws {
    let rows = try _rows(_library(setting), "Book") {
      $0.propertiesToFetch = [
        _column("double", "pages * 2", .integer32AttributeType),
        _column("small", "lowercase(title)", .stringAttributeType),
        _column("members", "author.books.@count", .integer32AttributeType),
        _column("size", "TERNARY(pages > 15, 'long', 'short')", .stringAttributeType),
      ]
      $0.sortDescriptors = _byTitle
    }
    #expect(rows.map { $0["double"] } == [20, 40, 60].map { AnyHashable(NSNumber(value: $0)) })
    #expect(rows.map { $0["small"] } == ["a", "b", "c"])
    #expect(rows.map { $0["members"] } == [2, 2, 1].map { AnyHashable(NSNumber(value: $0)) })
    #expect(rows.map { $0["size"] } == ["short", "long", "long"])
  }

  @Test(arguments: Setting.direct) func `an aggregate without groups collapses to-one row`(_ setting: Setting)
    throws
  {
    let rows = try _rows(_library(setting), "Book") {
      $0.propertiesToFetch = [
        _column("count", "count(title)", .integer32AttributeType),
        _column("sum", "sum(pages)", .integer32AttributeType),
        _column("least", "min(pages)", .integer32AttributeType),
        _column("most", "max(title)", .stringAttributeType),
        _column("mean", "average(pages)", .doubleAttributeType),
        _column("short", "@sum.pages", .integer32AttributeType),
      ]
    }
    #expect(rows.count == 1)
    #expect(rows[0]["count"] == AnyHashable(NSNumber(value: 3)))
    #expect(rows[0]["sum"] == AnyHashable(NSNumber(value: 60)))
    #expect(rows[0]["short"] == AnyHashable(NSNumber(value: 60)))
    #expect(rows[0]["least"] == AnyHashable(NSNumber(value: 10)))
    #expect(rows[0]["most"] == AnyHashable("C"))
    #expect(rows[0]["mean"] == AnyHashable(NSNumber(value: 20.0)))
  }

  @Test(arguments: Setting.direct) func `the sum of nothing is zero`(_ setting: Setting) throws {
    let rows = try _rows(_library(setting), "Book") {
      $0.predicate = NSPredicate(value: false)
      $0.propertiesToFetch = [
        _column("sum", "sum(pages)", .integer32AttributeType),
        _column("most", "max(pages)", .integer32AttributeType),
      ]
    }
    #expect(rows == [["sum": NSNumber(value: 0)]])
  }

  @Test(arguments: Setting.direct) func `groups are counted sorted and filtered`(_ setting: Setting) throws {
    let stack = try _library(setting)
    let count = _column("count", "count(title)", .integer32AttributeType)
    let all = try _rows(stack, "Book") {
      $0.propertiesToFetch = ["author.name", count]
      $0.propertiesToGroupBy = ["author.name"]
      $0.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: false)]
    }
    #expect(
      all == [
        ["author.name": "Bob", "count": NSNumber(value: 1)],
        ["author.name": "Ann", "count": NSNumber(value: 2)],
      ])
    let some = try _rows(stack, "Book") {
      $0.propertiesToFetch = ["author.name", count]
      $0.propertiesToGroupBy = ["author.name"]
      $0.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
    }
    #expect(some.map { $0["author.name"] } == ["Ann"])
    let ordered = try _rows(stack, "Book") {
      $0.propertiesToFetch = ["author.name", count]
      $0.propertiesToGroupBy = ["author.name"]
      $0.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
      $0.fetchLimit = 1
    }
    #expect(ordered.map { $0["author.name"] } == ["Bob"])
  }

  @Test(arguments: Setting.direct) func `a having condition cannot spell an aggregate out`(_ setting: Setting)
    throws
  {
    let stack = try _library(setting)
    for condition in ["sum(pages) > 25", "count(title) == 1", "@sum.pages > 25"] {
      let error = #expect(throws: CocoaError.self, "\(condition)") {
        try _rows(stack, "Book") {
          $0.propertiesToFetch = ["author"]
          $0.propertiesToGroupBy = ["author"]
          $0.havingPredicate = NSPredicate(format: condition)
        }
      }
      #expect(error.map { "\($0)".contains("Unsupported function expression") } == true)
    }
  }

  @Test(arguments: Setting.direct) func `equal dictionaries come once if asked for`(_ setting: Setting) throws
  {
    let stack = try _library(setting)
    for isDistinct in [false, true] {
      let rows = try _rows(stack, "Book") {
        $0.propertiesToFetch = ["author.name"]
        $0.returnsDistinctResults = isDistinct
      }
      #expect(rows.count == (isDistinct ? 2 : 3))
    }
  }

  @Test(arguments: Setting.direct) func `limit and offset count dictionaries`(_ setting: Setting) throws {
    let rows = try _rows(_library(setting), "Book") {
      $0.propertiesToFetch = ["title"]
      $0.sortDescriptors = _byTitle
      $0.fetchOffset = 1
      $0.fetchLimit = 1
    }
    #expect(rows == [["title": "B"]])
  }

  @Test(arguments: Setting.direct) func `dictionaries show the saved store`(_ setting: Setting) throws {
    let stack = try _library(setting)
    stack.context.performAndWait { _ = stack.context.insert("Author", ["name": "Dora"]) }
    #expect(try _rows(stack, "Author") { $0.propertiesToFetch = ["name"] }.count == 3)
  }

  @Test(arguments: Setting.direct) func `what cannot be selected throws`(_ setting: Setting) throws {
    let stack = try _library(setting)
    let book = stack.coordinator.managedObjectModel.entitiesByName["Book"]!
    let selections: [([Any], [Any]?, NSPredicate?)] = [
      (["tags"], nil, nil), ([book.relationshipsByName["tags"]!], nil, nil), (["colour"], nil, nil),
      (["mark"], nil, nil),
      (["title", _column("n", "count(pages)")], ["pages"], nil),
      (["title"], nil, NSPredicate(format: "title == 'A'")),
      (["author.name"], ["author.name"], NSPredicate(format: "total > 1")), (["title"], ["tags.name"], nil),
    ]
    for (properties, groups, having) in selections {
      #expect(throws: CocoaError.self, "\(properties)") {
        try _rows(stack, "Book") {
          $0.propertiesToFetch = properties
          $0.propertiesToGroupBy = groups
          $0.havingPredicate = having
        }
      }
    }
  }

  @Test(.ofFiles) func `one statement computes the groups`() throws {
    let stack = try _library(.sqlite)
    let request = NSFetchRequest<NSDictionary>(entityName: "Book")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["author.name", _column("n", "sum(pages)", .integer32AttributeType)]
    request.propertiesToGroupBy = ["author.name"]
    request.havingPredicate = NSPredicate(format: "%@ > %d", NSExpression(forVariable: "n"), 5)
    let statements = try stack.context.performAndWait { try stack.context.sqlStatements(for: request) }
    #expect(
      statements.map(\.sql) == [
        "SELECT t1.ZNAME, IFNULL(SUM(t0.ZPAGES), 0) FROM ZPUBLICATION t0 LEFT OUTER JOIN ZAUTHOR t1 ON t0.ZAUTHOR = t1.Z_PK "
          + "WHERE t0.Z_ENT IN (4, 5) GROUP BY t1.ZNAME HAVING IFNULL(SUM(t0.ZPAGES), 0) > ?"
      ])
    #expect(statements[0].bindings == [.integer(5)])
  }
}
