import Foundation
import Testing

@testable import CoreData

@Suite("Fetched results controller: the cache on disk", .serialized)
struct SectionCacheTests {
  private let _name = "test \(UUID().uuidString)"
  private let _stack: TestStack

  init() throws {
    _stack = try TestStack(.sqlite)
    try _fill(_stack)
  }

  private func _fill(_ stack: TestStack) throws {
    try stack.context.performAndWait {
      for number in 0..<30 {
        stack.context.insert(
          "Author", ["name": String(format: "%c%02d", 97 + number % 3, number), "age": 20 + number / 10])
      }
      try stack.context.save()
    }
  }

  /// Returns a context on a separate coordinator, as another run of the program would have.
  private func _anotherRun() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: _stack.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func _controller(
    _ context: NSManagedObjectContext, sort: [String] = ["age", "name"], sections: String? = "age",
    where predicate: NSPredicate? = nil, limit: Int = 0
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = predicate
    request.fetchLimit = limit
    request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: _name)
  }

  /// Returns whether a fetch used the cache, in which case it has read no values.
  private func _tookCache(_ controller: NSFetchedResultsController<NSManagedObject>) -> Bool {
    controller.fetchedObjects!.allSatisfy { $0.isFault && $0._row == nil }
  }

  private func _shape(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
    controller.sections!.map { section in
      "\(section.name): "
        + (section.objects as! [NSManagedObject]).map { $0.text("name") ?? "-" }.joined(separator: " ")
    }
  }

  @Test func `Another run reuses the cache without reading objects`() throws {
    let shape = try _stack.context.performAndWait {
      let controller = _controller(_stack.context)
      try controller.performFetch()
      #expect(!_tookCache(controller))
      return _shape(controller)
    }
    #expect(shape.count == 3)
    let context = try _anotherRun()
    try context.performAndWait {
      let controller = _controller(context)
      try controller.performFetch()
      #expect(_tookCache(controller))
      #expect(_shape(controller) == shape)
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `Sections named by a related object are cached`() throws {
    try _stack.context.performAndWait {
      let author = try _stack.context.all("Author", by: "name")[0]
      for title in ["t", "u"] { _stack.context.insert("Book", ["title": title, "author": author]) }
      try _stack.context.save()
    }
    func controller(_ context: NSManagedObjectContext) throws -> NSFetchedResultsController<NSManagedObject> {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name",
        cacheName: _name)
      try controller.performFetch()
      return controller
    }
    _ = try _stack.context.performAndWait { try controller(_stack.context) }
    let context = try _anotherRun()
    try context.performAndWait {
      let found = try controller(context)
      #expect(_tookCache(found))
      #expect(found.sections?.map(\.name) == ["a00"])
      // The related object determines the section, so its change counts too.
      try context.all("Author", by: "name")[0].setValue("z", forKey: "name")
      try context.save()
    }
    let third = try _anotherRun()
    try third.performAndWait {
      let names = try controller(third).sections?.map(\.name)
      #expect(names == ["z"])
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  enum Change: String, CaseIterable { case insertion, update, deletion, replacement, batch }

  @Test(arguments: Change.allCases)
  func `A cache is stale after any change of the stored objects`(_ change: Change) throws {
    try _stack.context.performAndWait { try _controller(_stack.context).performFetch() }
    let writer = try _anotherRun()
    try writer.performAndWait {
      let authors = try writer.all("Author", by: "name")
      switch change {
      case .insertion: writer.insert("Author", ["name": "new", "age": 21])
      case .update: authors[3].setValue(22, forKey: "age")
      case .deletion: writer.delete(authors[5])
      case .replacement:
        writer.delete(authors[5])
        writer.insert("Author", ["name": "new", "age": 21])
      case .batch: for author in authors { author.setValue("x" + author.text("name")!, forKey: "name") }
      }
      try writer.save()
    }
    let context = try _anotherRun()
    try context.performAndWait {
      let controller = _controller(context)
      try controller.performFetch()
      #expect(!_tookCache(controller))
      #expect(try controller.fetchedObjects == context.fetch(controller.fetchRequest))
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `Another request of the same name replaces the cache`() throws {
    let context = try _anotherRun()
    try context.performAndWait {
      let requests = [
        _controller(context), _controller(context, sort: ["age"]), _controller(context, sections: nil),
        _controller(context, where: NSPredicate(format: "age > 20")), _controller(context, limit: 7),
      ]
      for controller in requests {
        try controller.performFetch()
        #expect(!_tookCache(controller))
        context.reset()
        try controller.performFetch()
        #expect(_tookCache(controller))
        context.reset()
      }
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `Deleting without a name deletes every cache`() throws {
    let context = try _anotherRun()
    try context.performAndWait {
      for name in [_name, nil] {
        try _controller(context).performFetch()
        #expect(FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name)
        #expect(!FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
        context.reset()
        let controller = _controller(context)
        try controller.performFetch()
        #expect(!_tookCache(controller))
        context.reset()
      }
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `Unsaved changes show, and are kept out of the cache`() throws {
    let context = try _anotherRun()
    try context.performAndWait {
      context.insert("Author", ["name": "unsaved", "age": 21])
      let controller = _controller(context)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 31)
      #expect(!FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
    }
  }

  @Test func `Results from a cache are followed as others are`() throws {
    try _stack.context.performAndWait { try _controller(_stack.context).performFetch() }
    let context = try _anotherRun()
    let delegate = RecordingDelegate()
    try context.performAndWait {
      let controller = _controller(context)
      controller.delegate = delegate
      try controller.performFetch()
      #expect(_tookCache(controller))
      controller.object(at: IndexPath(item: 2, section: 0)).setValue(22, forKey: "age")
      context.delete(controller.object(at: IndexPath(item: 0, section: 1)))
      context.insert("Author", ["name": "a000", "age": 20])
      context.processPendingChanges()
      #expect(delegate.take() == ["will", "delete 1.0 -", "insert - 0.1", "move 0.2 2.0", "did"])
      #expect(try controller.fetchedObjects == context.fetch(controller.fetchRequest))
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `A damaged file is as good as none, wherever it is damaged`() throws {
    let context = try _anotherRun()
    try context.performAndWait {
      try _controller(context, limit: 3).performFetch()
      let url = SectionCacheFiles.url(for: _name)
      let whole = try Data(contentsOf: url)
      for position in stride(from: 0, to: whole.count, by: 3) {
        var bent = whole
        bent[position] ^= 0x41
        for file in [bent, whole.prefix(position)] {
          try Data(file).write(to: url)
          context.reset()
          let controller = _controller(context, limit: 3)
          try controller.performFetch()
          #expect(!_tookCache(controller), "byte \(position)")
        }
      }
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `A complete file with false contents is refused`() throws {
    for number in [-1, 4, Int.max, Int.min] {
      var writer = CacheWriter()
      writer.write(number)
      writer.write("ab")
      var reader = try #require(CacheReader(sealed: writer.sealed()))
      #expect(throws: CacheReader.Malformed.self) { try reader.count() }
      var text = try #require(CacheReader(sealed: writer.sealed()))
      #expect(throws: CacheReader.Malformed.self) { try text.text() }
    }
    var empty = try #require(CacheReader(sealed: CacheWriter().sealed()))
    #expect(empty.isAtEnd)
    #expect(throws: CacheReader.Malformed.self) { try empty.value() }
    #expect(CacheReader(sealed: Data()) == nil)
  }

  @Test func `Predicates whose meaning can change are not cached`() throws {
    let context = try _anotherRun()
    try context.performAndWait {
      let controller = _controller(context, where: NSPredicate(format: "now() > '2001-01-01'"))
      try? controller.performFetch()
      #expect(!FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
      // An object is identified by its URI across runs.
      let mentor = try context.all("Author", by: "name")[0]
      let pupils = _controller(context, where: NSPredicate(format: "mentor == %@", mentor))
      try pupils.performFetch()
      #expect(FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
    }
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: _name)
  }

  @Test func `Nothing is kept of a store in memory`() throws {
    let stack = try TestStack(.memory)
    try _fill(stack)
    try stack.context.performAndWait {
      let controller = _controller(stack.context)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 30)
      #expect(!FileManager.default.fileExists(atPath: SectionCacheFiles.url(for: _name).path))
    }
  }

  @Test func `a seal tells bytes that have changed places`() {
    #expect(CacheSeal.of([1, 2]) != CacheSeal.of([2, 1]))
    #expect(CacheSeal.of([0]) != CacheSeal.of([0, 0]))
  }
}
