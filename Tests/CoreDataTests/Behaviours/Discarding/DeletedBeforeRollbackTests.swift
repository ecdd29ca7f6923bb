import CoreData
import Testing

/// Objects that a child has deleted and not saved, while its parent discards its own changes of them.
@Suite struct DeletedBeforeRollbackTests {
  /// What a context announces as there, from its notifications alone.
  private final class Mirror: @unchecked Sendable {
    // Unchecked: used on the context's queue.
    private var _shown = Set<NSManagedObject>()
    private var _token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
      _token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [unowned self] in
        _shown.formUnion($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [])
        _shown.subtract($0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? [])
      }
    }

    deinit { _token.map(NotificationCenter.default.removeObserver) }

    var names: [String] { _shown.map { $0.text("name") ?? "nil" }.sorted() }
  }

  enum Back: CaseIterable { case rollback, undo }

  @Test(arguments: Setting.direct)
  func `what the parent never saved does not come back with a rollback`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    child.automaticallyMergesChangesFromParent = true
    let mirror = Mirror(child)
    main.performAndWait { _ = main.insert("Author", ["name": "Ada"]) }
    try child.performAndWait {
      child.delete(try #require(try child.all("Author").first))
      child.processPendingChanges()
      main.performAndWait { main.rollback() }
    }
    child.performAndWait {
      child.rollback()
      #expect(mirror.names == [])
      #expect(child.registeredObjects.isEmpty)
    }
  }

  @Test(arguments: Setting.direct, Back.allCases)
  func `what the parent changed comes back with the stored values`(_ setting: Setting, _ back: Back) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    child.automaticallyMergesChangesFromParent = true
    child.undoManager = UndoManager()
    let author = try stack.stored("Author", ["name": "Ada"])
    main.performAndWait { author.setValue("Augusta", forKey: "name") }
    let own = try child.performAndWait {
      let own = try #require(try child.all("Author").first)
      #expect(own.text("name") == "Augusta")
      child.delete(own)
      child.processPendingChanges()
      main.performAndWait { main.rollback() }
      return own
    }
    child.performAndWait {
      switch back {
      case .rollback: child.rollback()
      case .undo: child.undo()
      }
      #expect(own.text("name") == "Ada")
    }
  }

  @Test(arguments: Setting.direct)
  func `a child that read a deletion learns that the parent has undone it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    let author = try stack.stored("Author", ["name": "Ada"])
    main.performAndWait { main.undoManager = UndoManager() }
    let mirror = Mirror(child)
    main.performAndWait {
      main.delete(author)
      main.processPendingChanges()
    }
    try child.performAndWait {
      try #expect(child.all("Author").isEmpty)
      child.automaticallyMergesChangesFromParent = true
    }
    main.performAndWait { main.undo() }
    #expect(eventually { child.performAndWait { mirror.names == ["Ada"] } })
  }

  @Test(arguments: Setting.direct)
  func `what a fetch shows before the child hears of the rollback is announced with it`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    child.automaticallyMergesChangesFromParent = true
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    let mirror = Mirror(child)
    try child.performAndWait {
      child.delete(child.object(with: id))
      try child.save()
      main.performAndWait { main.rollback() }
      let found = try #require(try child.all("Author").first)
      found.setValue(1, forKey: "age")
      child.processPendingChanges()
      #expect(mirror.names == [])
    }
    child.performAndWait { #expect(mirror.names == ["Ada"]) }
  }

  @Test(arguments: Setting.direct)
  func `an object that the child has kept is not announced as inserted by the parent's rollback`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    let author = try stack.stored("Author", ["name": "Ada"])
    child.automaticallyMergesChangesFromParent = true
    let mirror = Mirror(child)
    let own = try child.performAndWait {
      let own = try #require(try child.all("Author").first)
      #expect(own.text("name") == "Ada")
      main.performAndWait {
        main.delete(author)
        main.processPendingChanges()
        main.rollback()
      }
      return own
    }
    child.performAndWait {
      #expect(mirror.names == [])
      #expect(own.text("name") == "Ada")
    }
  }

  enum Deleter: CaseIterable { case sibling, parent }

  @Test(arguments: Setting.direct, Deleter.allCases)
  func `a child learns that others have deleted what it inserted`(
    _ setting: Setting, _ deleter: Deleter
  ) throws {
    let stack = try TestStack(setting)
    let (main, child) = (stack.root, stack.child(of: stack.root))
    child.automaticallyMergesChangesFromParent = true
    let mirror = Mirror(child)
    let author = try child.performAndWait {
      let author = child.insert("Author", ["name": "Ada"])
      try child.save()
      return author
    }
    let other = deleter == .parent ? main : stack.child(of: main)
    try other.performAndWait {
      other.delete(try #require(try other.all("Author").first))
      if deleter == .sibling { try other.save() }
    }
    try main.performAndWait { try main.save() }
    child.performAndWait {
      #expect(mirror.names == [])
      #expect(author.managedObjectContext == nil)
    }
  }
}
