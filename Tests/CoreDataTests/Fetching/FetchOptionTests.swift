import Foundation
import Synchronization
import Testing

@testable import CoreData

/// Options of fetch requests.
@Suite(.serialized) struct FetchOptionTests {
  func authors(_ setting: Setting, _ count: Int) throws -> TestStack {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      for number in 0..<count {
        let author = stack.context.insert("Author", ["name": "n\(number)", "age": number])
        for book in 0..<2 { stack.context.insert("Book", ["title": "b\(number).\(book)", "author": author]) }
      }
      try stack.context.save()
    }
    return stack
  }

  /// Returns the statements that the log shows for `body` in a new context.
  func statements(
    _ stack: TestStack, level: Int = 1, _ body: (NSManagedObjectContext) throws -> Void
  ) throws -> [String] {
    let lines = Lines()
    // Other suites run concurrently; keeps the statements of this thread.
    let thread = pthread_self()
    SQLDebug.set(level: level) { line in
      if pthread_equal(thread, pthread_self()) != 0 { lines.add(line) }
    }
    defer { SQLDebug.set(level: 0) }
    let context = stack.sibling()
    try context.performAndWait { try body(context) }
    return lines.all
  }

  private final class Lines: Sendable {
    private let _all = Mutex<[String]>([])
    func add(_ line: String) { _all.withLock { $0.append(line) } }
    var all: [String] { _all.withLock { $0 } }
  }

  func reads(_ lines: [String], of table: String) -> Int {
    lines.filter { $0.hasPrefix("CoreData: sql: SELECT") && $0.contains("FROM \(table)") }.count
  }

  private func authorsInBatches() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.fetchBatchSize = 10
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    return request
  }

  @Test(.ofFiles) func `a batched fetch loads batch by batch`() throws {
    let stack = try authors(.sqlite, 30)
    let request = authorsInBatches()
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      let authors = try context.fetch(request)
      #expect(authors.allSatisfy { $0.isFault && $0._row == nil })
      #expect(authors[12].text("name") == "n12")
      #expect(authors[10..<20].allSatisfy { $0._row != nil })
      #expect(authors[..<10].allSatisfy { $0._row == nil } && authors[20...].allSatisfy { $0._row == nil })
      #expect(authors.map { $0.text("name") } == (0..<30).map { "n\($0)" })
    }
    // Identities, then three batches.
    #expect(reads(lines, of: "ZAUTHOR") == 4)
  }

  @Test(.ofFiles) func `faults that are filled here and there read few neighbours`() throws {
    let stack = try TestStack(.sqlite)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.includesPropertyValues = false
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    try stack.context.performAndWait {
      for number in 0..<4000 { stack.context.insert("Author", ["name": "n\(number)", "age": number]) }
      try stack.context.save()
      stack.context.reset()
      stack.context.persistentStoreCoordinator!.rowCache.removeAll()
      let authors = try stack.context.fetch(request)
      func filled() -> Int { authors.count { $0._row != nil } }
      for number in 1...10 { #expect(authors[number * 377].text("name") == "n\(number * 377)") }
      let scattered = filled()
      #expect(scattered > 10 && scattered <= 2 * 128 + 8 * 16)
      // In order, as many as before.
      for author in authors[3850..<3990] { _ = author.text("name") }
      #expect(filled() - scattered >= 128)
      #expect(authors.map { $0.text("name") } == (0..<4000).map { "n\($0)" })
    }
  }

  @Test(.ofFiles) func `batched results load only what is looked at`() throws {
    let stack = try authors(.sqlite, 30)
    let request = authorsInBatches()
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      let authors = try context.fetchBatched(request)
      #expect(authors.count == 30)
      #expect(authors[25].text("name") == "n25")
      #expect(authors[29].text("name") == "n29")
      #expect(context.registeredObjects.count <= 10)
    }
    #expect(reads(lines, of: "ZAUTHOR") == 2)
  }

  @Test(.ofFiles) func `prefetching takes one statement for members, one for values`() throws {
    let stack = try authors(.sqlite, 12)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.relationshipKeyPathsForPrefetching = ["books"]
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      let authors = try context.fetch(request)
      #expect(authors.allSatisfy { $0.isFault && !$0.hasFault(forRelationshipNamed: "books") })
      for author in authors {
        for book in author.objects("books") { #expect(book.text("title") != nil) }
      }
    }
    #expect(reads(lines, of: "ZPUBLICATION") == 2)
  }

  @Test(.ofFiles) func `prefetching follows paths`() throws {
    let stack = try authors(.sqlite, 5)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.relationshipKeyPathsForPrefetching = ["author.mentor"]
    let lines = try statements(stack) { context in
      context.persistentStoreCoordinator!.rowCache.removeAll()
      for book in try context.fetch(request) { #expect(book.object("author")?.text("name") != nil) }
    }
    #expect(reads(lines, of: "ZAUTHOR") == 1)
  }

  @Test(arguments: Setting.direct) func `unknown relationships are ignored when prefetching`(
    _ setting: Setting
  )
    throws
  {
    let stack = try authors(setting, 1)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.relationshipKeyPathsForPrefetching = ["name", "books.nothing"]
    try stack.context.performAndWait { try #expect(stack.context.fetch(request).count == 1) }
  }

  @Test(arguments: Setting.direct) func `refetched objects keep their values unless asked to refresh`(
    _ setting: Setting
  ) throws {
    let stack = try authors(setting, 1)
    let other = stack.sibling()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    try stack.context.performAndWait {
      let author = try stack.context.fetch(request)[0]
      _ = author.text("name")
      try other.performAndWait {
        try other.fetch(request)[0].setValue("changed", forKey: "name")
        try other.save()
      }
      _ = try stack.context.fetch(request)
      #expect(author.text("name") == "n0")
      author.setValue(77, forKey: "age")
      request.shouldRefreshRefetchedObjects = true
      _ = try stack.context.fetch(request)
      #expect(author.text("name") == "changed")
      #expect(author.value(forKey: "age") as? Int == 77)
    }
  }

  @Test(arguments: Setting.direct) func `an expression has no place in an object`(_ setting: Setting) throws {
    let stack = try authors(setting, 1)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    let column = NSExpressionDescription()
    column.name = "n"
    column.expression = NSExpression(format: "age + 1")
    request.propertiesToFetch = ["name"]
    try stack.context.performAndWait { () throws -> Void in
      let first = try stack.context.fetch(request)[0]
      #expect(first.text("name") == "n0")
      request.propertiesToFetch = [column]
      #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
    }
  }

  @Test(arguments: Setting.allCases) func `a window of identities is sorted with unsaved changes`(
    _ setting: Setting
  )
    throws
  {
    let stack = try authors(setting, 0)
    try stack.context.performAndWait {
      for age in [5, 1, 3] { stack.context.insert("Author", ["name": "a\(age)", "age": age]) }
      try stack.context.save()
      stack.context.insert("Author", ["name": "a2", "age": 2])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      request.includesPropertyValues = false
      let names = try stack.context.fetch(request).map { $0.text("name") }
      #expect(names == ["a1", "a2", "a3", "a5"])
    }
  }

  // MARK: Asynchronous

  @Test(arguments: Setting.direct) func `an asynchronous fetch delivers on the contexts queue`(
    _ setting: Setting
  )
    async throws
  {
    let stack = try authors(setting, 3)
    let names: [String] = try await withCheckedThrowingContinuation { continuation in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        #expect(result.operationError == nil && result.managedObjectContext === ContextQueue.current)
        continuation.resume(returning: result.finalResult?.compactMap { $0.text("name") } ?? [])
      }
      stack.context.performAndWait {
        do {
          stack.context.insert("Author", ["name": "unsaved", "age": -1])
          let result = try stack.context.execute(asynchronous) as? NSAsynchronousFetchResult<NSManagedObject>
          #expect(result != nil && result?.finalResult == nil)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(names == ["unsaved", "n0", "n1", "n2"])
  }

  @Test func `an asynchronous fetch without values sorts unsaved objects in`() async throws {
    // A coordinator that has no rows yet.
    let coordinator = try authors(.sqlite, 3).otherCoordinator()
    let context = coordinator.newContext()
    let faults = Atomic<Int>(0)
    let ages: [Int] = try await withCheckedThrowingContinuation { continuation in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
      request.includesPropertyValues = false
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        faults.subtract(coordinator.faultReads.load(ordering: .relaxed), ordering: .relaxed)
        continuation.resume(
          returning: result.finalResult?.compactMap { $0.value(forKey: "age") as? Int } ?? [])
      }
      context.performAndWait {
        do {
          for age in [-1, 1, 1_000] { context.insert("Author", ["name": "unsaved", "age": age]) }
          faults.store(coordinator.faultReads.load(ordering: .relaxed), ordering: .relaxed)
          try context.execute(asynchronous)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(faults.load(ordering: .relaxed) == 0, "sorting reads no object by itself")
    #expect(ages.count == 6 && ages == ages.sorted(by: >), "\(ages)")
  }

  @Test func `a cancelled asynchronous fetch delivers nothing`() throws {
    let stack = try authors(.sqlite, 3)
    let called = Atomic<Bool>(false)
    let request = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Author")
    ) { _ in
      called.store(true, ordering: .relaxed)
    }
    let result = try stack.context.performAndWait { () -> NSAsynchronousFetchResult<NSManagedObject> in
      let result = try stack.context.execute(request) as! NSAsynchronousFetchResult<NSManagedObject>
      // Inside the context's turn, so that the result cannot be delivered earlier.
      result.cancel()
      return result
    }
    Thread.sleep(forTimeInterval: 0.05)
    stack.context.performAndWait { #expect(result.finalResult == nil && !called.load(ordering: .relaxed)) }
  }

  @Test func `progress ends at the number of rows`() async throws {
    let stack = try authors(.sqlite, 3)
    let progress: Progress? = try await withCheckedThrowingContinuation { continuation in
      let request = NSAsynchronousFetchRequest(
        fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Author")
      ) { result in
        continuation.resume(returning: result.progress)
      }
      request.estimatedResultCount = 10
      let parent = Progress(totalUnitCount: 1)
      stack.context.performAndWait {
        parent.becomeCurrent(withPendingUnitCount: 1)
        defer { parent.resignCurrent() }
        do { try stack.context.execute(request) } catch { continuation.resume(throwing: error) }
      }
    }
    #expect(progress?.completedUnitCount == 3)
  }

  @Test func `an asynchronous fetch needs a context on a coordinator`() throws {
    let stack = try authors(.nestedOverSQLite, 1)
    let request = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Author"))
    stack.context.performAndWait { () -> Void in
      #expect(throws: CocoaError.self) { try stack.context.execute(request) }
    }
  }

  @Test func `executing a fetch gives a complete result`() throws {
    let stack = try authors(.memory, 2)
    try stack.context.performAndWait {
      let result = try stack.context.execute(NSFetchRequest<NSManagedObject>(entityName: "Author"))
      #expect((result as? NSAsynchronousFetchResult<NSManagedObject>)?.finalResult?.count == 2)
    }
  }

  // MARK: SQL

  @Test(.ofFiles) func `the SQL of a request is shown without running it`() throws {
    let stack = try authors(.sqlite, 4)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = NSPredicate(format: "name BEGINSWITH 'n' AND age IN %@", [1, 2])
    let statement = try stack.context.performAndWait {
      try stack.context.sqlStatements(for: request, countingRows: true)[0]
    }
    #expect(
      statement.sql.hasSuffix(
        "WHERE (t0.ZNAME >= ? AND t0.ZNAME < ?) AND t0.ZAGE IN (SELECT value FROM Z_VALUES(?))"))
    #expect(statement.bindings == [.text("n"), .text("o"), .values([.integer(1), .integer(2)])])
    #expect(statement.rowCount == 2)
    #expect(statement.queryPlan.first?.contains("t0") == true)
    #expect(statement.storeIdentifier == stack.coordinator.persistentStores[0].identifier)
  }

  @Test(.ofFiles) func `an order made in memory is shown beside the SQL`() throws {
    let stack = try authors(.sqlite, 4)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors = [
      NSSortDescriptor(key: "age", ascending: false), NSSortDescriptor(key: "name", ascending: true),
    ]
    func statement() throws -> SQLStatement {
      try stack.context.performAndWait { try stack.context.sqlStatements(for: request)[0] }
    }
    let whole = try statement()
    #expect(!whole.sql.contains("ORDER BY") && whole.memoryOrder == ["age descending", "name"])
    #expect(whole.description.contains("sorted in memory by age descending, name"))
    request.fetchLimit = 2
    let page = try statement()
    #expect(page.sql.contains("ORDER BY") && page.memoryOrder.isEmpty)
  }

  @Test(.ofFiles) func `the log shows more with each level`() throws {
    let stack = try authors(.sqlite, 2)
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
    request.resultType = .managedObjectIDResultType
    request.predicate = NSPredicate(format: "name == 'n1'")
    let sql = "SELECT t0.Z_PK FROM ZAUTHOR t0 WHERE t0.ZNAME = ?"
    for level in 1...4 {
      let lines = try statements(stack, level: level) { _ = try $0.fetch(request) }
      #expect(lines[0] == "CoreData: sql: \(sql)")
      #expect(lines.contains("CoreData: details: SQLite bind[0] = 'n1'") == (level >= 2))
      #expect(lines.contains("CoreData: details: row: (2)") == (level >= 3))
      #expect(lines.contains("CoreData: details: SQLite: EXPLAIN QUERY PLAN \(sql)") == (level >= 4))
      #expect(lines.contains { $0.hasPrefix("CoreData: annotation: sql connection fetch time: 0.") })
      #expect(
        lines.contains {
          $0.hasPrefix("CoreData: annotation: total fetch execution time: 0.") && $0.hasSuffix("for 1 rows.")
        })
    }
  }

  @Test func `the level comes from arguments or the environment`() {
    #expect(SQLDebug.fromArguments(["app", "-com.apple.CoreData.SQLDebug", "3"]) == 3)
    #expect(SQLDebug.fromArguments(["app", "-com.apple.CoreData.SQLDebug"]) == nil)
    #expect(SQLDebug.fromArguments(["app", "-com.apple.CoreData.SQLDebug", "9"]) == 4)
    #expect(SQLDebug.fromEnvironment(["com.apple.CoreData.SQLDebug": "1"]) == 1)
    #expect(SQLDebug.fromEnvironment([:]) == nil)
  }
}
