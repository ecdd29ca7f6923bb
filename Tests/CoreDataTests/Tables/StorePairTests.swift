import CoreData
import Foundation
import TestSupport
import Testing

/// Two stores of one coordinator that both hold an entity.
private enum StorePair: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case files, memories
  case fileAndMemory = "a file and memory"
  case fileAndAtomic = "a file and an atomic store"
  case fileAndCustom = "a file and a custom store"
  case readOnlySecond = "a file and a read-only file"
  case readOnlyFirst = "a read-only file and a file"

  var testDescription: String { rawValue }

  var types: [String] {
    switch self {
    case .files, .readOnlySecond, .readOnlyFirst: [TestDatabase.type, TestDatabase.type]
    case .memories: [NSInMemoryStoreType, NSInMemoryStoreType]
    case .fileAndMemory: [TestDatabase.type, NSInMemoryStoreType]
    case .fileAndAtomic: [TestDatabase.type, CardStore.type]
    case .fileAndCustom: [TestDatabase.type, ShelfStore.type]
    }
  }

  /// The index of the store that cannot be written.
  var readOnly: Int? {
    switch self {
    case .readOnlyFirst: 0
    case .readOnlySecond: 1
    default: nil
    }
  }
}

/// Six notes in two stores, by turns, each with an author in the same store.
private final class PairStack {
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  var stores: [NSPersistentStore] { coordinator.persistentStores }
  private let _pair: StorePair
  private let _places: [URL]

  init(_ pair: StorePair) throws {
    _pair = pair
    TablePlace.register
    let directory = try TemporaryPlace.makeDirectory()
    _places = zip(pair.types, ["First", "Second"]).map { type, name in
      let file = directory.appendingPathComponent("\(name).store")
      return type == TestDatabase.type ? TestDatabase.place(file) : file
    }
    let author = LibraryModel.entity("Author"), note = LibraryModel.entity("Note")
    let (notes, writer) = (
      LibraryModel.relationship("notes", to: note, many: true),
      LibraryModel.relationship("author", to: author)
    )
    LibraryModel.pair(notes, writer)
    author.properties = [LibraryModel.attribute("name", .stringAttributeType), notes]
    note.properties = [
      LibraryModel.attribute("text", .stringAttributeType),
      LibraryModel.attribute("rank", .integer64AttributeType),
      writer,
    ]
    let model = NSManagedObjectModel()
    model.entities = [author, note]
    model.setEntities([author, note], forConfigurationName: "First")
    model.setEntities([author, note], forConfigurationName: "Second")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    context = coordinator.newContext()
    try _open(readOnly: nil)
    try context.performAndWait {
      let authors = stores.map { store in
        let author = context.insert("Author", ["name": store.configurationName])
        context.assign(author, to: store)
        return author
      }
      for rank in 0..<6 {
        let note = context.insert("Note", ["text": "note \(rank)", "rank": rank])
        context.assign(note, to: stores[rank % 2])
        note.setValue(authors[rank % 2], forKey: "author")
      }
      try context.save()
      context.reset()
    }
    if let readOnly = pair.readOnly {
      for store in stores { try coordinator.remove(store) }
      try _open(readOnly: readOnly)
    }
  }

  private func _open(readOnly: Int?) throws {
    for index in 0..<2 {
      var options = _pair.types[index] == TestDatabase.type ? TestDatabase.options(nil) ?? [:] : [:]
      if index == readOnly { options[NSReadOnlyPersistentStoreOption] = true }
      try coordinator.addPersistentStore(
        ofType: _pair.types[index], configurationName: ["First", "Second"][index],
        at: _pair.types[index] == NSInMemoryStoreType ? nil : _places[index], options: options)
    }
  }

  func request<Result>(_ type: Result.Type, from index: Int? = nil) -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
    if let index { request.affectedStores = [stores[index]] }
    return request
  }

  func ranks(from index: Int? = nil) throws -> [Int] {
    try context.performAndWait {
      try context.fetch(request(NSManagedObject.self, from: index)).map { $0.value(forKey: "rank") as! Int }
    }
  }
}

/// What is read from two stores, whatever they are, comes from both, or from the one that is asked.
@Suite struct StorePairTests {
  @Test(arguments: StorePair.allCases)
  fileprivate func `objects come in one order, and from the affected store`(_ pair: StorePair) throws {
    let stack = try PairStack(pair)
    try #expect(stack.ranks() == [0, 1, 2, 3, 4, 5])
    try #expect(stack.ranks(from: 0) == [0, 2, 4])
    try #expect(stack.ranks(from: 1) == [1, 3, 5])
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `object IDs name their store, and dictionaries and counts count both`(_ pair: StorePair)
    throws
  {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let ids = stack.request(NSManagedObjectID.self)
      ids.resultType = .managedObjectIDResultType
      let found = try stack.context.fetch(ids)
      #expect(
        found.map { $0.persistentStore === stack.stores[0] } == [true, false, true, false, true, false])
      #expect(
        found.map { stack.context.object(with: $0).value(forKey: "rank") as? Int } == [0, 1, 2, 3, 4, 5])
      try #expect(stack.context.count(for: stack.request(NSManagedObject.self)) == 6)
      try #expect(stack.context.count(for: stack.request(NSManagedObject.self, from: 1)) == 3)
      guard pair != .fileAndCustom else { return }
      let dictionaries = stack.request(NSDictionary.self)
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["rank"]
      try #expect(stack.context.fetch(dictionaries).compactMap { $0["rank"] as? Int } == [0, 1, 2, 3, 4, 5])
    }
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `a page is cut from both, and a condition asked of both`(_ pair: StorePair) throws {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let request = stack.request(NSManagedObject.self)
      request.fetchOffset = 1
      request.fetchLimit = 3
      try #expect(stack.context.fetch(request).map { $0.value(forKey: "rank") as? Int } == [1, 2, 3])
      request.fetchOffset = 0
      request.fetchLimit = 0
      request.predicate = NSPredicate(format: "rank > 2 AND author.name == 'Second'")
      try #expect(stack.context.fetch(request).map { $0.value(forKey: "rank") as? Int } == [3, 5])
    }
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `faults and relationships are read from the store of each object`(_ pair: StorePair) throws
  {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let ids = try stack.context.fetch(stack.request(NSManagedObject.self)).map(\.objectID)
      stack.context.reset()
      let notes = ids.map { stack.context.object(with: $0) }
      #expect(notes.map { $0.text("text") } == (0..<6).map { "note \($0)" })
      #expect(
        notes.map { $0.object("author")?.text("name") } == [
          "First", "Second", "First", "Second", "First", "Second",
        ]
      )
      for author in try stack.context.all("Author") {
        let own = author.objects("notes")
        #expect(own.count == 3)
        #expect(own.allSatisfy { $0.objectID.persistentStore === author.objectID.persistentStore })
      }
    }
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `relationships are prefetched from the store of each object`(_ pair: StorePair) throws {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["notes"]
      for author in try stack.context.fetch(request) {
        let ranks = author.objects("notes").compactMap { $0.value(forKey: "rank") as? Int }
        #expect(Set(ranks) == (author.text("name") == "First" ? [0, 2, 4] : [1, 3, 5]))
      }
    }
  }

  @Test(arguments: StorePair.allCases.filter { $0.readOnly == nil })
  fileprivate func `rules of deletions are followed in the store of each object`(_ pair: StorePair) throws {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      for author in try stack.context.all("Author") { stack.context.delete(author) }
      try stack.context.save()
      stack.context.reset()
      for note in try stack.context.all("Note") { #expect(note.object("author") == nil) }
    }
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `changes and deletions go to the store of each object, those of a read-only one fail`(
    _ pair: StorePair
  ) throws {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let notes = try stack.context.fetch(stack.request(NSManagedObject.self))
      for note in notes.prefix(4) { note.setValue((note.value(forKey: "rank") as! Int) + 10, forKey: "rank") }
      for note in notes.suffix(2) { stack.context.delete(note) }
      guard let readOnly = pair.readOnly else {
        try stack.context.save()
        return
      }
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code == .fileWriteNoPermission)
      stack.context.rollback()
      for note in notes where note.objectID.persistentStore !== stack.stores[readOnly] {
        let rank = note.value(forKey: "rank") as! Int
        if rank > 3 { stack.context.delete(note) } else { note.setValue(rank + 10, forKey: "rank") }
      }
      try stack.context.save()
    }
    stack.context.performAndWait { stack.context.reset() }
    try #expect(stack.ranks(from: 0) == (pair.readOnly == 0 ? [0, 2, 4] : [10, 12]))
    try #expect(stack.ranks(from: 1) == (pair.readOnly == 1 ? [1, 3, 5] : [11, 13]))
  }

  @Test(arguments: StorePair.allCases)
  fileprivate func `a new object goes where it is assigned, or to the first store that can be written`(
    _ pair: StorePair
  ) throws {
    let stack = try PairStack(pair)
    let writable: [Int] = [0, 1].filter { $0 != pair.readOnly }
    try stack.context.performAndWait {
      let free = stack.context.insert("Note", ["rank": 20])
      let assigned = writable.map { index in
        let note = stack.context.insert("Note", ["rank": 30 + index])
        stack.context.assign(note, to: stack.stores[index])
        return note
      }
      try stack.context.save()
      #expect(free.objectID.persistentStore === stack.stores[writable[0]])
      #expect(zip(assigned, writable).allSatisfy { $0.objectID.persistentStore === stack.stores[$1] })
    }
    for index in writable {
      let expected: [Int] = (index == writable[0] ? [20] : []) + [30 + index]
      try #expect(stack.ranks(from: index).suffix(expected.count) == expected)
    }
  }

  @Test(arguments: [StorePair.files, .readOnlyFirst, .readOnlySecond])
  fileprivate func `batch requests reach both stores, the affected one, and no read-only one`(
    _ pair: StorePair
  ) throws {
    let stack = try PairStack(pair)
    try stack.context.performAndWait {
      let update = NSBatchUpdateRequest(entityName: "Note")
      update.propertiesToUpdate = ["text": "all"]
      update.resultType = .updatedObjectsCountResultType
      if let readOnly = pair.readOnly {
        let error = #expect(throws: CocoaError.self) { try stack.context.execute(update) }
        #expect(error?.code == .fileWriteNoPermission)
        update.affectedStores = [stack.stores[1 - readOnly]]
      }
      let result = try stack.context.execute(update) as? NSBatchUpdateResult
      #expect(result?.result as? Int == (pair.readOnly == nil ? 6 : 3))
      let texts = try stack.context.fetch(stack.request(NSManagedObject.self)).map { $0.text("text") ?? "-" }
      #expect(
        texts == (0..<6).map { pair.readOnly == nil || $0 % 2 != pair.readOnly ? "all" : "note \($0)" })
    }
  }
}

/// The histories of two stores of one coordinator.
@Suite struct StorePairHistoryTests {
  private let _stack: TestStack
  private let _context: NSManagedObjectContext
  private var _stores: [NSPersistentStore] { _stack.coordinator.persistentStores }

  init() throws {
    _stack = try Tracked.stack()
    let second = try Tracked.stack()
    for store in second.coordinator.persistentStores { try second.coordinator.remove(store) }
    try _stack.coordinator.addPersistentStore(
      ofType: TestDatabase.type, configurationName: nil, at: second.url,
      options: TestDatabase.options(Tracked.options))
    _context = _stack.context
    try _context.performAndWait {
      for number in 0..<6 {
        let tag = _context.insert("Tag", ["name": "\(number)"])
        _context.assign(tag, to: _stores[number % 2])
        try _context.save()
      }
    }
  }

  private func _names(_ request: NSPersistentHistoryChangeRequest) throws -> [String] {
    try _context.history(request).flatMap { transaction in
      (transaction.changes ?? []).map { _context.object(with: $0.changedObjectID).text("name") ?? "-" }
    }
  }

  private func _all(from index: Int? = nil) -> NSPersistentHistoryChangeRequest {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    if let index { request.affectedStores = [_stores[index]] }
    return request
  }

  @Test func `transactions of both come by time, or from the affected store`() throws {
    try _context.performAndWait {
      try #expect(_names(_all()) == ["0", "1", "2", "3", "4", "5"])
      try #expect(_names(_all(from: 0)) == ["0", "2", "4"])
      try #expect(_names(_all(from: 1)) == ["1", "3", "5"])
      try #expect(Set(_context.history(_all()).map(\.storeID)) == Set(_stores.map(\.identifier)))
    }
  }

  @Test func `a token of both goes on in both, one of a store begins the other anew`() throws {
    try _context.performAndWait {
      let both = _stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      let first = _stack.coordinator.currentPersistentHistoryToken(fromStores: [_stores[0]])
      for number in 6..<8 {
        _context.assign(_context.insert("Tag", ["name": "\(number)"]), to: _stores[number % 2])
        try _context.save()
      }
      try #expect(_names(.fetchHistory(after: both)) == ["6", "7"])
      try #expect(_names(.fetchHistory(after: first)) == ["1", "3", "5", "6", "7"])
    }
  }

  @Test func `a save in both stores is a transaction in each`() throws {
    try _context.performAndWait {
      let token = _stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
      for (index, store) in _stores.enumerated() {
        _context.assign(_context.insert("Tag", ["name": "both \(index)"]), to: store)
      }
      try _context.save()
      let transactions = try _context.history(.fetchHistory(after: token))
      #expect(transactions.count == 2)
      #expect(Set(transactions.map(\.storeID)) == Set(_stores.map(\.identifier)))
    }
  }

  @Test func `history is deleted in the affected store only`() throws {
    try _context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
      request.affectedStores = [_stores[1]]
      _ = try _context.execute(request)
      try #expect(_names(_all()) == ["0", "2", "4"])
    }
  }
}
