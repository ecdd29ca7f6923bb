import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Rows that no store writes: they concern their own objects only, whatever the policy, and never end the
/// process.
@Suite(.ofFiles) struct DamagedValueTests {
  private let stack: TestStack

  /// Creates a store with an author of three books; the row of book "2" is damaged.
  init() throws {
    stack = try TestStack(.sqlite)
    try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      for number in 1...3 {
        stack.root.insert("Book", ["title": "\(number)", "pages": 10 * number, "author": ada])
      }
      try stack.root.save()
    }
    // A UUID takes 16 bytes.
    try damage("UPDATE ZPUBLICATION SET ZISBN = x'0102' WHERE ZTITLE = '2'")
  }

  private func damage(_ sql: String) throws {
    try Connection(path: stack.url.path).execute(sql)
    stack.coordinator.rowCache.removeAll()
  }

  /// Returns faults of the books by title, whose values are nowhere in memory.
  private func faults(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.includesPropertyValues = false
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let books = try context.fetch(request)
    stack.coordinator.rowCache.removeAll()
    return books
  }

  private func stored() throws -> [String?] {
    var rows: [String?] = []
    try Connection(path: stack.url.path).query(
      "SELECT ZTITLE || ' ' || ZPAGES FROM ZPUBLICATION ORDER BY ZTITLE"
    ) {
      if case .text(let text) = $0.value(0) { rows.append(text) } else { rows.append(nil) }
    }
    return rows
  }

  @Test(arguments: [ReadFailurePolicy.trap, .fail])
  func `A damaged object reads as empty, whatever the policy`(_ policy: ReadFailurePolicy) throws {
    try stack.fresh { context in
      context.readFailurePolicy = policy
      let book = try faults(in: context)[1]
      #expect(book.value(forKey: "title") == nil)
      #expect(ManagedKey<String>("title")[book] == "")
      #expect(ManagedKey<Date>("published")[book] == Date(timeIntervalSinceReferenceDate: 0))
      #expect(ManagedKey<UUID>("isbn")[book].uuidString == "00000000-0000-0000-0000-000000000000")
      #expect(ManagedKey<NSManagedObject>("author")[book].text("name") == nil)
      #expect(book.isFault)
      #expect(book.objects("tags").isEmpty)
    }
  }

  @Test func `Faults that load along with a damaged one are read`() throws {
    try stack.fresh { context in
      let books = try faults(in: context)
      #expect(books.map { $0.text("title") } == ["1", nil, "3"])
      let reads = stack.coordinator.rowReads.load(ordering: .relaxed)
      #expect(books[2].value(forKey: "pages") as? Int == 30)
      #expect(stack.coordinator.rowReads.load(ordering: .relaxed) == reads)
    }
  }

  @Test func `A to-many has its damaged members`() throws {
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      #expect(ada.objects("books").count == 3)
      #expect(Set(ada.objects("books").compactMap { $0.text("title") }) == ["1", "3"])
    }
  }

  @Test func `Prefetching passes over a damaged object`() throws {
    try stack.fresh { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["books"]
      let ada = try #require(try context.fetch(request).first)
      #expect(Set(ada.objects("books").compactMap { $0.text("title") }) == ["1", "3"])
    }
  }

  @Test func `Batches have an empty object in its place`() throws {
    try stack.fresh { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      try #expect(context.fetchBatched(request).map { $0.text("title") } == ["1", nil, "3"])
      let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
      let identity = NSExpressionDescription()
      identity.name = "objectID"
      identity.expression = NSExpression.expressionForEvaluatedObject()
      identity.resultType = .objectID
      rows.propertiesToFetch = ["title", "isbn", identity]
      rows.sortDescriptors = request.sortDescriptors
      try #expect(context.fetchBatched(rows).map { $0["title"] as? String } == ["1", nil, "3"])
    }
  }

  @Test func `Other objects are fetched, changed and saved`() throws {
    try stack.fresh { context in
      let books = try faults(in: context)
      #expect(books[1].text("title") == nil)
      #expect(try context.count("Book") == 3)
      #expect(try context.existingObject(with: books[0].objectID) === books[0])
      books[0].setValue(11, forKey: "pages")
      try context.save()
    }
    #expect(try stored() == ["1 11", "2 20", "3 30"])
  }

  @Test func `A change of a damaged object fails the save until a rollback`() throws {
    try stack.fresh { context in
      let books = try faults(in: context)
      books[1].setValue(21, forKey: "pages")
      books[0].setValue(11, forKey: "pages")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .fileReadCorruptFile)
      #expect(error?.localizedDescription.contains("row 2 of ZPUBLICATION") == true)
      context.rollback()
      books[0].setValue(11, forKey: "pages")
      try context.save()
    }
    #expect(try stored() == ["1 11", "2 20", "3 30"])
  }

  @Test func `A link that a damaged object would lose fails the save`() throws {
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      let book = try #require(ada.objects("books").first { $0.text("title") == nil })
      ada.mutableSetValue(forKey: "books").remove(book)
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test func `A batch request deletes a damaged row, an object's deletion fails the save`() throws {
    try stack.fresh { context in
      let books = try faults(in: context)
      #expect(books[1].text("title") == nil)
      context.delete(books[1])
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      try context.execute(NSBatchDeleteRequest(objectIDs: [books[1].objectID]))
    }
    #expect(try stored() == ["1 10", "3 30"])
    try stack.fresh { try #expect($0.all("Author").first?.objects("books").count == 2) }
  }

  @Test func `Looking it up throws`() throws {
    try stack.fresh { context in
      let id = try faults(in: context)[1].objectID
      let error = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      #expect(error?.code == .fileReadCorruptFile)
    }
  }

  @Test func `A merge by ID keeps the others`() throws {
    try stack.fresh { context in
      let books = try faults(in: context)
      #expect(books.map { $0.text("title") } == ["1", nil, "3"])
      try damage("UPDATE ZPUBLICATION SET ZPAGES = ZPAGES + 1, Z_OPT = Z_OPT + 1")
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSInsertedObjectIDsKey: books.map(\.objectID)], into: [context])
      #expect(books.map { $0.value(forKey: "pages") as? Int } == [11, nil, 31])
      #expect(context.deletedObjects.isEmpty)
    }
  }

  // MARK: Files

  /// Expects every kind of access to every object to end in an error or in empty values.
  private func readEverything() throws {
    stack.fresh { context in
      for entity in ["Author", "Book"] {
        do {
          let request = NSFetchRequest<NSManagedObject>(entityName: entity)
          request.includesPropertyValues = false
          for object in try context.fetch(request) {
            for name in object.entity.propertiesByName.keys { _ = object.value(forKey: name) }
          }
        } catch {
          #expect(error is CocoaError)
        }
      }
    }
  }

  @Test func `Pages of garbage end no process`() throws {
    let length = try #require(try FileManager.default.attributesOfItem(atPath: stack.url.path)[.size] as? Int)
    try Connection(path: stack.url.path).checkpoint(.truncate)
    for page in 1..<max(2, length / 4096) {
      var content = try Data(contentsOf: stack.url)
      let range = page * 4096..<min(page * 4096 + 4096, content.count)
      if range.isEmpty { continue }
      let kept = content.subdata(in: range)
      content.replaceSubrange(range, with: Data(repeating: 0x5a, count: range.count))
      try write(content)
      try readEverything()
      content.replaceSubrange(range, with: kept)
      try write(content)
    }
  }

  /// Overwrites the file in place.
  private func write(_ content: Data) throws {
    let file = try FileHandle(forWritingTo: stack.url)
    try file.write(contentsOf: content)
    try file.close()
    stack.coordinator.rowCache.removeAll()
  }

  @Test func `A cut file ends no process`() throws {
    try Connection(path: stack.url.path).checkpoint(.truncate)
    #expect(truncate(stack.url.path, 3 * 4096) == 0)
    stack.coordinator.rowCache.removeAll()
    try readEverything()
  }

  @Test func `A value whose file cannot be read is damage as well`() throws {
    let stores = try BlobStore()
    try stores.make(blob: true)
    let file = try stores.external() + "/" + #require(BlobStore.names(in: stores.external()).first)
    let coordinator = try stores.open()
    let context = coordinator.newContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.includesPropertyValues = false
      let note = try #require(try context.fetch(request).first)
      #expect(truncate(file, 3 << 30) == 0)
      #expect(note.value(forKey: "scan") == nil && note.text("text") == nil)
      note.setValue("changed", forKey: "text")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .fileReadTooLarge)
      #expect(truncate(file, off_t(BlobStore.blob.count)) == 0)
      context.rollback()
      #expect(note.value(forKey: "scan") as? Data == BlobStore.blob)
    }
  }
}
