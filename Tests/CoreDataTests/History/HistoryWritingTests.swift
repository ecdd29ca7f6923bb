import CoreData
import Foundation
import Testing

/// The contents of the history tables after saves.
struct HistoryWritingTests {
  @Test(.ofFiles) func `a store without the option has no tables`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    try #expect(
      Tracked.rows("SELECT name FROM sqlite_master WHERE name LIKE 'ATRANS%' OR name = 'ACHANGE'", stack)
        == [])
    #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    stack.context.performAndWait {
      _ = #expect(throws: CocoaError.self) { try stack.context.allHistory() }
    }
  }

  @Test(.ofFiles) func `a store that kept a history is read-only without the option`() throws {
    let stack = try Tracked.stack()
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    let other = try stack.otherCoordinator(options: .some(nil))
    #expect(other.persistentStores[0].isReadOnly)
    let context = other.newContext()
    try context.performAndWait {
      try #expect(context.count("Tag") == 1)
      #expect(throws: CocoaError.self) { try context.saveTags("b") }
    }
    try #expect(Tracked.rows("SELECT COUNT(*) FROM ZTAG", stack) == [["1"]])
  }

  @Test(.ofFiles) func `each save is one transaction and an empty one is none`() throws {
    let stack = try Tracked.stack()
    try stack.context.performAndWait {
      try stack.context.saveTags("a", "b")
      try stack.context.save()
      try stack.context.saveTags("c")
    }
    try #expect(
      Tracked.rows("SELECT Z_PK, Z_ENT, Z_OPT FROM ATRANSACTION ORDER BY Z_PK", stack)
        == [["1", "16002", ""], ["2", "16002", ""]])
    try #expect(
      Tracked.rows("SELECT ZTRANSACTIONID, COUNT(*) FROM ACHANGE GROUP BY 1", stack) == [
        ["1", "2"], ["2", "1"],
      ])
    // A program without bundle identifier uses its process name for both.
    let name = ProcessInfo.processInfo.processName
    let texts: Set<String> = [name, Bundle.main.bundleIdentifier ?? name]
    try #expect(
      Tracked.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000", stack)
        == [
          ["16001", "CHANGE", "0", "3"], ["16002", "TRANSACTION", "0", "2"],
          ["16003", "TRANSACTIONSTRING", "0", String(texts.count)],
        ])
  }

  @Test(.ofFiles) func `a save that fails leaves no transaction`() throws {
    let stack = try Tracked.stack()
    let other = stack.sibling()
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    try other.performAndWait { try other.all("Tag")[0].setValue("b", forKey: "name") }
    try stack.context.performAndWait {
      try stack.context.all("Tag")[0].setValue("c", forKey: "name")
      try stack.context.save()
    }
    other.performAndWait {
      _ = #expect(throws: CocoaError.self) { try other.save() }
    }
    try #expect(Tracked.rows("SELECT COUNT(*) FROM ATRANSACTION", stack) == [["2"]])
  }

  @Test(.ofFiles) func `changes are ordered as insertions, updates and deletions`() throws {
    let stack = try Tracked.stack()
    let context = stack.context
    try context.performAndWait {
      try context.saveTags("a", "b")
      let tags = try context.all("Tag", by: "name")
      context.delete(tags[0])
      tags[1].setValue("c", forKey: "name")
      context.insert("Author", ["name": "d"])
      try context.save()
    }
    let number = try Tracked.rows(
      "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Author', 'Tag') ORDER BY Z_NAME", stack)
    let (author, tag) = (number[0][0], number[1][0])
    let rows = try Tracked.rows(
      """
      SELECT ZCHANGETYPE, ZENTITY, typeof(ZENTITYPK), Z_ENT, Z_OPT, hex(ZCOLUMNS) FROM ACHANGE \
      WHERE ZTRANSACTIONID = 2 ORDER BY Z_PK
      """, stack)
    #expect(
      rows == [
        ["0", author, "integer", "16001", "", ""], ["1", tag, "integer", "16001", "", "80"],
        ["2", tag, "integer", "16001", "", ""],
      ])
    try #expect(
      Tracked.rows("SELECT typeof(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE <> 1", stack).allSatisfy {
        $0 == ["null"]
      })
  }

  @Test(.ofFiles) func `changed columns are bits: to-ones, attributes, to-manys`() throws {
    let stack = try TestStack(.sqlite, options: Tracked.options)
    let context = stack.context
    try context.performAndWait {
      let author = context.insert("Author", ["name": "a"])
      let book = context.insert("Novel", ["title": "b"])
      let chapter = context.insert("Chapter", ["heading": "c"])
      try context.save()
      book.setValue(7, forKey: "pages")
      book.setValue(author, forKey: "author")
      book.setValue("e", forKey: "title")
      try context.save()
      book.setValue("g", forKey: "genre")
      try context.save()
      chapter.setValue(book, forKey: "book")
      try context.save()
    }
    func columns(_ transaction: Int, _ entity: String) throws -> String {
      try Tracked.rows(
        """
        SELECT hex(ZCOLUMNS) FROM ACHANGE JOIN Z_PRIMARYKEY ON Z_PRIMARYKEY.Z_ENT = ZENTITY \
        WHERE ZTRANSACTIONID = \(transaction) AND Z_NAME = '\(entity)'
        """, stack)[0][0]
    }
    // Novel: author; title of the root, then copies … weight of Book, then genre; chapters, tags. Author:
    // mentor; age, name; books, pupils. Chapter: two bits for a book, which may be a novel; heading.
    try #expect(columns(2, "Novel") == "C040")
    try #expect(columns(2, "Author") == "10")
    try #expect(columns(3, "Novel") == "0004")
    try #expect(columns(4, "Chapter") == "C0")
    try #expect(columns(4, "Novel") == "0002")
  }

  @Test(.ofFiles) func `deleted objects' kept values have their own typed columns`() throws {
    let stack = try Tracked.stack()
    let context = stack.context
    try context.performAndWait {
      try context.saveTags("kept")
      context.delete(try context.all("Tag")[0])
      try context.save()
    }
    try #expect(
      Tracked.rows("SELECT ZCHANGETYPE, ZTOMBSTONE0, typeof(ZTOMBSTONE0) FROM ACHANGE ORDER BY Z_PK", stack)
        == [["0", "", "null"], ["2", "kept", "text"]])
  }

  @Test(.ofFiles) func `author context and process are interned texts`() throws {
    let stack = try Tracked.stack()
    let context = stack.context
    try context.performAndWait {
      context.name = "importer"
      context.transactionAuthor = "me"
      try context.saveTags("a")
      try context.saveTags("b")
      context.transactionAuthor = nil
      try context.saveTags("c")
    }
    let rows = try Tracked.rows(
      """
      SELECT a.ZNAME, c.ZNAME, p.ZNAME, typeof(t.ZTIMESTAMP), typeof(t.ZAUTHOR), typeof(t.ZQUERYGEN) FROM ATRANSACTION t \
      LEFT JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS JOIN ATRANSACTIONSTRING c ON c.Z_PK = t.ZCONTEXTNAMETS \
      JOIN ATRANSACTIONSTRING p ON p.Z_PK = t.ZPROCESSIDTS ORDER BY t.Z_PK
      """, stack)
    let process = ProcessInfo.processInfo.processName
    #expect(
      rows == [
        ["me", "importer", process, "real", "null", "null"],
        ["me", "importer", process, "real", "null", "null"],
        ["", "importer", process, "real", "null", "null"],
      ])
    try #expect(
      Tracked.rows("SELECT COUNT(*) FROM ATRANSACTIONSTRING WHERE ZNAME = 'importer'", stack) == [["1"]])
  }

  @Test func `tracking can begin on a store that is there already`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait { try stack.context.saveTags("before") }
    let other = try stack.otherCoordinator(options: .some(Tracked.options))
    let context = other.newContext()
    try context.performAndWait {
      try #expect(context.allHistory().isEmpty)
      try context.saveTags("after")
      try #expect(context.allHistory().count == 1)
    }
  }

  @Test func `did save carries the token of its transaction`() throws {
    let stack = try Tracked.stack()
    let posted = Posted(.NSManagedObjectContextDidSave, by: stack.context)
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    let token = posted.userInfos[0]["newChangeToken"] as? NSPersistentHistoryToken
    #expect(token != nil)
    #expect(token == stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    let plain = try TestStack(.sqlite)
    let others = Posted(.NSManagedObjectContextDidSave, by: plain.context)
    try plain.context.performAndWait { try plain.context.saveTags("a") }
    #expect(others.userInfos[0]["newChangeToken"] == nil)
  }
}
