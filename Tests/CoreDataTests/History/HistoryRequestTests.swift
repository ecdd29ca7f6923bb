import CoreData
import Foundation
import Testing

/// Reading and deleting the history.
struct HistoryRequestTests {
  private let stack: TestStack
  private let context: NSManagedObjectContext

  init() throws {
    stack = try Tracked.stack()
    context = stack.context
  }

  @Test func `history is read after a date a token or a transaction`() throws {
    try context.performAndWait {
      let start = Date()
      try context.saveTags("a")
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      try context.saveTags("b")
      try context.saveTags("c")
      let all = try context.allHistory()
      #expect(all.map(\.transactionNumber) == [1, 2, 3])
      try #expect(context.history(.fetchHistory(after: start.addingTimeInterval(-1))).count == 3)
      try #expect(context.history(.fetchHistory(after: all[1].timestamp)).count == 1)
      try #expect(context.history(.fetchHistory(after: token)).map(\.transactionNumber) == [2, 3])
      try #expect(context.history(.fetchHistory(after: all[1])).map(\.transactionNumber) == [3])
      try #expect(context.history(.fetchHistory(after: nil as NSPersistentHistoryTransaction?)).count == 3)
      try #expect(context.history(.fetchHistory(after: all[2].token)).isEmpty)
    }
  }

  @Test func `a fetch request narrows what comes after a token`() throws {
    try context.performAndWait {
      for author in ["one", "two", "one"] {
        context.transactionAuthor = author
        try context.saveTags(author)
      }
      let first = try context.allHistory()[0]
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: first.token)
      let search = NSFetchRequest<any NSFetchRequestResult>()
      search.entity = NSPersistentHistoryTransaction.entityDescription(with: context)
      search.predicate = NSPredicate(format: "author == %@", "one")
      request.fetchRequest = search
      #expect(request.token == first.token)
      try #expect(context.history(request).map(\.transactionNumber) == [3])
    }
  }

  @Test func `result types have Apple's numbers and shapes`() throws {
    #expect(
      [.statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly, .transactionsAndChanges]
        == (0...5).map { NSPersistentHistoryResultType(rawValue: $0) })
    try context.performAndWait {
      try context.saveTags("a", "b")
      try context.saveTags("c")
      func result<T>(_ type: NSPersistentHistoryResultType, _: T.Type) throws -> T? {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        request.resultType = type
        let result = try context.execute(request) as! NSPersistentHistoryResult
        #expect(result.resultType == type)
        return result.result as? T
      }
      try #expect(result(.statusOnly, Bool.self) == true)
      try #expect(
        result(.objectIDs, [NSManagedObjectID].self).map(Set.init) == Set(context.all("Tag").map(\.objectID)))
      try #expect(result(.count, Int.self) == 2)
      let transactions = try result(.transactionsOnly, [NSPersistentHistoryTransaction].self)
      #expect(transactions?.count == 2)
      #expect(transactions?.allSatisfy { $0.changes == nil } == true)
      try #expect(result(.changesOnly, [NSPersistentHistoryChange].self)?.map(\.changeID) == [1, 2, 3])
      let whole = try result(.transactionsAndChanges, [NSPersistentHistoryTransaction].self)
      #expect(whole?.map { $0.changes?.count } == [2, 1])
      #expect(
        NSPersistentHistoryChangeRequest.fetchHistory(after: Date()).resultType == .transactionsAndChanges)
    }
  }

  @Test(.ofFiles) func `history is deleted up to what is named which stays`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      try context.saveTags("b")
      let all = try context.allHistory()
      try #expect(context.history(.deleteHistory(before: all[0]), as: Bool.self))
      try #expect(context.allHistory().count == 2)
      try #expect(context.history(.deleteHistory(before: all[1]), as: Bool.self))
      try #expect(context.allHistory().map(\.transactionNumber) == [2])
      try context.saveTags("c")
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      try #expect(context.history(.deleteHistory(before: token), as: Bool.self))
      try #expect(context.allHistory().map(\.transactionNumber) == [3])
      try #expect(context.history(.deleteHistory(before: nil as NSPersistentHistoryToken?), as: Bool.self))
      try #expect(context.allHistory().count == 1)
      try #expect(context.history(.deleteHistory(before: Date(timeIntervalSinceNow: 10)), as: Bool.self))
      try #expect(context.allHistory().isEmpty)
      let left = "SELECT COUNT(*) FROM ACHANGE UNION ALL SELECT COUNT(*) FROM ATRANSACTIONSTRING"
      try #expect(Tracked.rows(left, stack) == [["0"], ["0"]])
    }
  }

  @Test func `a transaction says who wrote it and when`() throws {
    try context.performAndWait {
      context.name = "importer"
      context.transactionAuthor = "me"
      let before = Date()
      try context.saveTags("a")
      context.transactionAuthor = nil
      try context.saveTags("b")
      let all = try context.allHistory()
      #expect(all[0].timestamp >= before.addingTimeInterval(-0.001))
      #expect(all[0].timestamp <= Date())
      #expect(all[0].storeID == stack.coordinator.persistentStores[0].identifier)
      #expect(all[0].processID == ProcessInfo.processInfo.processName)
      #expect(!all[0].bundleID.isEmpty)
      #expect(all[0].contextName == "importer")
      #expect(all.map(\.author) == ["me", nil])
      #expect(all[1].token == stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    }
  }

  @Test func `a change says what was done to which`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      let tag = try context.all("Tag")[0]
      let id = tag.objectID
      tag.setValue("b", forKey: "name")
      try context.save()
      context.delete(tag)
      try context.save()
      let changes = try context.allHistory().flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changedObjectID) == [id, id, id])
      #expect(changes.map(\.changeType) == [.insert, .update, .delete])
      #expect(changes.map(\.changeID) == [1, 2, 3])
      #expect(changes.map { $0.updatedProperties?.map(\.name) } == [nil, ["name"], nil])
      #expect(changes.map { $0.tombstone?["name"] as? String } == [nil, nil, "b"])
      #expect(changes[1].transaction?.transactionNumber == 2)
      #expect(NSPersistentHistoryChangeType.delete.rawValue == 2)
    }
  }

  @Test func `a deleted object without kept attributes has no tombstone`() throws {
    try context.performAndWait {
      let author = context.insert("Author", ["name": "a"])
      try context.save()
      context.delete(author)
      try context.save()
      try #expect(context.allHistory()[1].changes?[0].tombstone == nil)
    }
  }

  @Test func `tokens of two coordinators are equal`() throws {
    let other = try stack.otherCoordinator()
    #expect(
      stack.coordinator.currentPersistentHistoryToken(fromStores: nil)?.description.contains("= 0") == true)
    try context.performAndWait { try context.saveTags("a") }
    let token = stack.coordinator.currentPersistentHistoryToken(
      fromStores: stack.coordinator.persistentStores)
    #expect(token != nil)
    #expect(token == other.currentPersistentHistoryToken(fromStores: nil))
    #expect(token?.hash == other.currentPersistentHistoryToken(fromStores: nil)?.hash)
    #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: []) == nil)
  }

  @Test func `a token survives its archive`() throws {
    try context.performAndWait { try context.saveTags("a") }
    let token = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    #expect(back == token)
    try context.performAndWait {
      try context.saveTags("b")
      try #expect(context.history(.fetchHistory(after: back)).count == 1)
    }
  }

  @Test func `tokens are compared in predicates`() throws {
    try context.performAndWait {
      let first = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: nil))
      for name in ["a", "b", "c"] { try context.saveTags(name) }
      let token = try context.allHistory()[1].token
      let entity = NSPersistentHistoryTransaction.entityDescription(with: context)
      func numbers(_ format: String) throws -> [Int64] {
        try context.history(context.historySearch(entity, NSPredicate(format: format, token))).map(
          \.transactionNumber)
      }
      try #expect(numbers("token = %@") == [2])
      try #expect(numbers("token >= %@") == [2, 3])
      try #expect(numbers("token <= %@") == [1, 2])
      try #expect(numbers("token > %@") == [3])
      #expect {
        try context.history(context.historySearch(entity, NSPredicate(format: "token > %@", first)))
      } throws: { ($0 as? CocoaError)?.code.rawValue == 134301 }
      try #expect(context.history(.fetchHistory(after: first)).count == 3)
    }
  }

  @Test func `transactions are found by their fields`() throws {
    try context.performAndWait {
      context.name = "reader"
      for author in ["one", "two"] {
        context.transactionAuthor = author
        try context.saveTags(author)
      }
      let entity = NSPersistentHistoryTransaction.entityDescription(with: context)
      func count(_ format: String, _ arguments: Any...) throws -> Int {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.history(context.historySearch(entity, predicate)).count
      }
      try #expect(count("author = %@", "one") == 1)
      try #expect(count("author != %@", "one") == 1)
      try #expect(count("contextName BEGINSWITH %@", "read") == 2)
      try #expect(count("processID = %@ AND bundleID != nil", ProcessInfo.processInfo.processName) == 2)
      try #expect(count("transactionNumber > 1") == 1)
      try #expect(count("timestamp > %@", Date(timeIntervalSinceNow: 10)) == 0)
      #expect(throws: CocoaError.self) { try count("changeType = 1") }
    }
  }

  @Test func `changes are found by their fields`() throws {
    try context.performAndWait {
      try context.saveTags("a", "b")
      let tag = try context.all("Tag", by: "name")[0]
      tag.setValue("c", forKey: "name")
      try context.save()
      let entity = NSPersistentHistoryChange.entityDescription(with: context)
      func changes(_ format: String, _ arguments: Any...) throws -> [NSPersistentHistoryChange] {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.history(context.historySearch(entity, predicate)).flatMap { $0.changes ?? [] }
      }
      try #expect(
        changes("changeType = %d", NSPersistentHistoryChangeType.update.rawValue).map(\.changeID) == [3])
      try #expect(changes("changedObjectID = %@", tag.objectID).map(\.changeType) == [.insert, .update])
      try #expect(changes("changedObjectID IN %@", [tag.objectID]).count == 2)
      #expect(throws: CocoaError.self) { try changes("author = 'me'") }
    }
  }

  @Test func `changed entity leaves subentities out`() throws {
    try context.performAndWait {
      for (entity, key) in [
        ("Book", "title"), ("Book", "title"), ("Novel", "title"), ("Author", "name"), ("Tag", "name"),
      ] {
        context.insert(entity, [key: entity])
      }
      try context.save()
      let model = stack.coordinator.managedObjectModel.entitiesByName
      let request = context.historySearch(
        NSPersistentHistoryChange.entityDescription(with: context),
        NSPredicate(format: "changedEntity = %@ || changedEntity = %@", model["Book"]!, model["Author"]!))
      request.resultType = .changesOnly
      try #expect(context.history(request, as: [NSPersistentHistoryChange].self).count == 3)
    }
  }

  @Test func `an ID of another coordinator finds no change`() throws {
    let other = try stack.otherCoordinator().newContext()
    try context.performAndWait { try context.saveTags("a") }
    let foreign = try other.performAndWait { try other.all("Tag")[0].objectID }
    try context.performAndWait {
      let request = context.historySearch(
        NSPersistentHistoryChange.entityDescription(with: context),
        NSPredicate(format: "changedObjectID = %@", foreign))
      try #expect(context.history(request).isEmpty)
    }
  }

  @Test func `a token whose history is deleted has expired`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      try context.saveTags("b")
      try context.saveTags("c")
      _ = try context.history(.deleteHistory(before: try context.allHistory()[2]), as: Bool.self)
      #expect { try context.history(.fetchHistory(after: token)) } throws: {
        ($0 as? CocoaError)?.code.rawValue == NSPersistentHistoryTokenExpiredError
      }
    }
  }

  @Test func `a token of another store throws 134501`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      let foreign = NSPersistentHistoryToken.foreign
      let entity = NSPersistentHistoryTransaction.entityDescription(with: context)
      let requests: [NSPersistentHistoryChangeRequest] = [
        .fetchHistory(after: foreign), .deleteHistory(before: foreign),
        context.historySearch(entity, NSPredicate(format: "token > %@", foreign)),
      ]
      for request in requests {
        #expect { try context.execute(request) } throws: { ($0 as? CocoaError)?.code.rawValue == 134501 }
      }
      try #expect(context.allHistory().count == 1)
    }
  }

  @Test func `a token of no store precedes everything`() throws {
    try context.performAndWait {
      try context.saveTags("a")
      try #expect(context.history(.fetchHistory(after: NSPersistentHistoryToken())).count == 1)
    }
  }

  @Test func `a token of two stores reads the one that is here`() throws {
    let (pair, second) = (try stack.otherCoordinator(), try Tracked.stack())
    _ = try pair.addPersistentStore(
      ofType: TestDatabase.type, configurationName: nil, at: second.url, options: Tracked.options)
    let both = pair.currentPersistentHistoryToken(fromStores: nil)
    try context.performAndWait {
      try context.saveTags("a")
      try #expect(context.history(.fetchHistory(after: both)).count == 1)
    }
  }

  @Test func `history merges into a context that has not seen it`() throws {
    let reader = try stack.otherCoordinator().newContext()
    try context.performAndWait { try context.saveTags("a", "b") }
    let tags = try reader.performAndWait {
      let tags = try reader.all("Tag", by: "name")
      #expect(tags.map { $0.text("name") } == ["a", "b"])
      return tags
    }
    let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
    try context.performAndWait {
      let mine = try context.all("Tag", by: "name")
      mine[0].setValue("z", forKey: "name")
      context.delete(mine[1])
      context.insert("Tag", ["name": "new"])
      try context.save()
    }
    try reader.performAndWait {
      let news = try reader.history(.fetchHistory(after: token))
      let merged = Posted(.NSManagedObjectContextDidMergeChangesObjectIDs, by: reader)
      for transaction in news {
        #expect(transaction.objectIDNotification().name == .NSManagedObjectContextDidSaveObjectIDs)
        reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      #expect(merged.count(NSInsertedObjectIDsKey) == 1)
      #expect(tags[0].text("name") == "z")
      #expect(tags[1].isDeleted)
      try #expect(reader.all("Tag", by: "name").map { $0.text("name") } == ["new", "z"])
    }
  }

  @Test func `a deletion is merged although its insertion came earlier`() throws {
    let reader = try stack.otherCoordinator().newContext()
    try context.performAndWait {
      try context.saveTags("a")
      context.delete(try context.all("Tag")[0])
      try context.save()
    }
    try reader.performAndWait {
      let changes = try reader.allHistory().flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changeType) == [.insert, .delete])
      let object = reader.object(with: changes[1].changedObjectID)
      for transaction in try reader.allHistory() {
        reader.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      #expect(object.isDeleted)
    }
  }

  @Test func `a childs history request goes to the coordinator`() throws {
    try context.performAndWait { try context.saveTags("a") }
    let child = stack.child(of: context)
    try child.performAndWait { try #expect(child.allHistory().count == 1) }
  }
}

extension NSPersistentHistoryToken {
  /// A token of a store that no test has.
  static var foreign: NSPersistentHistoryToken {
    let stack = try! Tracked.stack()
    return stack.coordinator.currentPersistentHistoryToken(fromStores: nil)!
  }
}
