import CoreData
import Testing

/// A worker that saves more often than its parents do.
@Suite struct RepeatedChildSaveTests {
  @Test(arguments: Setting.direct, [true, false])
  func savesThatMeetInAParentLeaveTheNextOneInOrder(_ setting: Setting, _ isHeldInParent: Bool) throws {
    let stack = try TestStack(setting)
    let (writer, main, worker) = (_context(), _context(), _context())
    writer.persistentStoreCoordinator = stack.coordinator
    main.parent = writer
    worker.parent = main
    func saveParents() throws {
      try main.performAndWait { try main.save() }
      try writer.performAndWait { try writer.save() }
    }
    let author = try worker.performAndWait {
      let author = worker.insert("Author", ["name": "Ada"])
      try worker.save()
      return author
    }
    try saveParents()
    for _ in 0..<3 {
      // Two saves of the worker meet in main before main saves; then one goes through alone.
      // Main has an object of its own for the author while they do, and none for the third.
      let held = isHeldInParent ? try main.performAndWait { try main.all("Author") } : []
      for pause in [false, true, true] {
        try worker.performAndWait {
          worker.insert("Book", ["title": "Notes"]).setValue(author, forKey: "author")
          try worker.save()
        }
        if pause {
          try saveParents()
          main.performAndWait { main.reset() }
        }
      }
      withExtendedLifetime(held) {}
    }
    try stack.fresh { context in
      let found = try #require(try context.all("Author").first)
      #expect(found.objects("books").count == 9)
    }
  }

  private func _context() -> NSManagedObjectContext {
    NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  }
}
