import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

/// Saves on one coordinator that are merged into a context of another, which is busy meanwhile.
@Suite("Merging between two coordinators")
struct SaveMergerTests {
  private let _directory: StoreDirectory
  private let _source: NSPersistentStoreCoordinator
  private let _target: NSManagedObjectContext
  private let _merger: SaveMerger

  init() throws {
    _directory = try StoreDirectory()
    let url = _directory.store
    let coordinators = try (0..<2).map { _ in
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
      try coordinator.addPersistentStore(type: .sqlite, at: url)
      return coordinator
    }
    _source = coordinators[0]
    _target = .onQueue(coordinators[1])
    _merger = SaveMerger(_source)
    _merger.add(_target)
  }

  /// Makes saves while nothing runs on the target's queue.
  private func _whileTargetIsBusy(_ saves: () throws -> Void) rethrows {
    let (begins, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    _target.perform {
      begins.signal()
      ends.wait()
    }
    begins.wait()
    defer { ends.signal() }
    try saves()
  }

  private func _save(_ work: (NSManagedObjectContext) -> Void) throws {
    let context = NSManagedObjectContext.onQueue(_source)
    try context.performAndWait {
      work(context)
      try context.save()
    }
  }

  private var _names: [String?] {
    get throws {
      try _target.performAndWait { try _target.fetch(SampleBooks.authorsByName).map(\.name) }
    }
  }

  @Test func `Saves that wait are merged as one`() async throws {
    let merges = Log()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: _target, queue: nil
    ) { _ in merges.add("merge") }
    defer { NotificationCenter.default.removeObserver(observer) }
    try _save { Author(managedObjectContext: $0).name = "Ada" }
    await _merger.waitUntilIdle()
    #expect(merges.lines.count == 1)
    let ada = try #require(try _target.performAndWait { try _target.fetch(SampleBooks.authorsByName).first })
    let id = _target.performAndWait { ada.objectID }
    try _whileTargetIsBusy {
      for number in 1...20 {
        try _save { ($0.object(with: id) as? Author)?.name = "Ada \(number)" }
      }
    }
    await _merger.waitUntilIdle()
    #expect(merges.lines.count == 2)
    #expect(_target.performAndWait { ada.name } == "Ada 20")
  }

  @Test func `Other work runs between the parts of a large merge`() async throws {
    let log = Log()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: _target, queue: nil
    ) { _ in log.add("merge") }
    defer { NotificationCenter.default.removeObserver(observer) }
    try _whileTargetIsBusy {
      try _save { context in
        for number in 0..<(2 * MergeLine.mostMerged + 1) {
          Author(managedObjectContext: context).name = "\(number)"
        }
      }
      _target.perform { log.add("other") }
    }
    await _merger.waitUntilIdle()
    #expect(log.lines == ["merge", "other", "merge", "merge"])
    #expect(try _names.count == 2 * MergeLine.mostMerged + 1)
  }

  @Test func `A merge that waits keeps neither the saving context nor its objects`() async throws {
    weak var context: NSManagedObjectContext?
    weak var author: Author?
    try _whileTargetIsBusy {
      try _save {
        let inserted = Author(managedObjectContext: $0)
        inserted.name = "Ada"
        (context, author) = ($0, inserted)
      }
      #expect(context == nil)
      #expect(author == nil)
    }
    await _merger.waitUntilIdle()
    #expect(try _names == ["Ada"])
  }

  @Test func `A context that was let go delays nothing`() async throws {
    let merger = SaveMerger(_source)
    merger.add(.onQueue(_source))
    try _save { Author(managedObjectContext: $0).name = "Ada" }
    await merger.waitUntilIdle()
  }

  @Test func `An insertion that is deleted before it is merged does not appear`() async throws {
    try _whileTargetIsBusy {
      try _save { context in
        let author = Author(managedObjectContext: context)
        try? context.save()
        context.delete(author)
      }
    }
    await _merger.waitUntilIdle()
    #expect(try _names == [])
    #expect(_target.performAndWait { _target.registeredObjects.isEmpty })
  }

  @Test func `Merges go on after the line was empty`() async throws {
    for name in ["Ada", "Byron", "Curie"] {
      try _save { Author(managedObjectContext: $0).name = name }
      await _merger.waitUntilIdle()
    }
    #expect(try _names == ["Ada", "Byron", "Curie"])
  }
}
