import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// Children after their parent has dropped unsaved changes that they have read.
@Suite struct DiscardedChangesTests {
  /// How the parent drops its unsaved changes.
  enum Discard: CaseIterable, Sendable {
    case rollback
    case reset
    case refresh

    func callAsFunction(_ parent: NSManagedObjectContext, of objects: [NSManagedObject]) {
      parent.performAndWait {
        switch self {
        case .rollback: parent.rollback()
        case .reset: parent.reset()
        case .refresh: for object in objects { parent.refresh(object, mergeChanges: false) }
        }
      }
    }

    static let ofInsertions: [Discard] = [.rollback, .reset]
  }

  private let _stack: TestStack
  private let _parent: NSManagedObjectContext
  private let _child: NSManagedObjectContext

  init() throws {
    _stack = try TestStack(.sqlite)
    _parent = _stack.root
    _child = _stack.child(of: _parent)
    _child.retainsRegisteredObjects = true
  }

  /// Runs a block of the child.
  private func child<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
    try _child.performAndWait { try body(_child) }
  }

  // MARK: Values

  @Test(arguments: Discard.allCases)
  func `a child shows the stored value again`(_ discard: Discard) throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    _parent.performAndWait { ada.setValue("Dropped", forKey: "name") }
    let seen = child { $0.object(with: ada.objectID) }
    child { _ in #expect(seen.text("name") == "Dropped") }
    discard(_parent, of: [ada])
    child { _ in #expect(seen.text("name") == "Ada") }
  }

  @Test func `many objects that are refreshed one by one are reread by a child that waits`() throws {
    let authors = try (0..<60).map { try _stack.stored("Author", ["name": "Ada \($0)"]) }
    let seen = child { context in
      authors.map { author in
        let object = context.object(with: author.objectID)
        object.setValue("Changed", forKey: "name")
        return object
      }
    }
    try child { try $0.save() }
    child { _ in
      // The child's queue is busy meanwhile.
      _parent.performAndWait {
        for author in authors {
          _ = author.text("name")
          _parent.refresh(author, mergeChanges: false)
        }
        #expect(!_parent.hasChanges)
        #expect(authors.map { $0.text("name") } == (0..<60).map { "Ada \($0)" })
      }
    }
    child { _ in #expect(seen.map { $0.text("name") } == (0..<60).map { "Ada \($0)" }) }
    let isChanged = NSPredicate(format: "name == 'Changed'")
    #expect(try _parent.performAndWait { try _parent.all("Author", where: isChanged).count } == 0)
  }

  @Test(arguments: Discard.allCases)
  func `a child's own change stays`(_ discard: Discard) throws {
    let ada = try _stack.stored("Author", ["name": "Ada", "age": 1])
    let id = ada.objectID
    _parent.performAndWait { ada.setValue("Dropped", forKey: "name") }
    let seen = child { $0.object(with: id) }
    child { _ in seen.setValue(36, forKey: "age") }
    discard(_parent, of: [ada])
    try child {
      #expect(seen.text("name") == "Ada")
      #expect(seen.value(forKey: "age") as? Int == 36)
      try $0.save()
    }
    try _parent.performAndWait { try _parent.save() }
    _stack.fresh { context in
      let stored = context.object(with: id)
      #expect(stored.text("name") == "Ada")
      #expect(stored.value(forKey: "age") as? Int == 36)
    }
  }

  @Test(arguments: Discard.allCases)
  func `a grandchild shows the stored value again`(_ discard: Discard) throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    let grandchild = _stack.child(of: _child)
    _parent.performAndWait { ada.setValue("Dropped", forKey: "name") }
    let seen = grandchild.performAndWait { grandchild.object(with: ada.objectID) }
    grandchild.performAndWait { #expect(seen.text("name") == "Dropped") }
    discard(_parent, of: [ada])
    // The announcement passes the child.
    child { _ in }
    grandchild.performAndWait { #expect(seen.text("name") == "Ada") }
  }

  @Test(arguments: Discard.ofInsertions)
  func `a change that another child saved is dropped too`(_ discard: Discard) throws {
    let id = try _stack.stored("Author", ["name": "Ada"]).objectID
    let sibling = _stack.child(of: _parent)
    try sibling.performAndWait {
      sibling.object(with: id).setValue("Dropped", forKey: "name")
      try sibling.save()
    }
    let seen = child { $0.object(with: id) }
    child { _ in #expect(seen.text("name") == "Dropped") }
    discard(_parent, of: [])
    child { _ in #expect(seen.text("name") == "Ada") }
    sibling.performAndWait { #expect(sibling.object(with: id).text("name") == "Ada") }
  }

  @Test func `a refreshed child's object is announced`() throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    _parent.performAndWait { ada.setValue("Dropped", forKey: "name") }
    let seen = child { $0.object(with: ada.objectID) }
    child { _ in #expect(seen.text("name") == "Dropped") }
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: _child)
    _parent.performAndWait { _parent.rollback() }
    child { _ in }
    #expect(posted.userInfos.contains { ($0[NSRefreshedObjectsKey] as? Set)?.contains(seen) ?? false })
  }

  // MARK: Links

  @Test(arguments: Discard.allCases)
  func `both ends of a dropped link are read again`(_ discard: Discard) throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    let bob = try _stack.stored("Author", ["name": "Bob"])
    let book = try _stack.stored("Book", ["author": ada])
    _parent.performAndWait { book.setValue(bob, forKey: "author") }
    let (seenAda, seenBob, seen) = child {
      ($0.object(with: ada.objectID), $0.object(with: bob.objectID), $0.object(with: book.objectID))
    }
    child { _ in
      #expect(seenAda.objects("books").isEmpty)
      #expect(seenBob.objects("books") == [seen])
      #expect(seen.object("author") === seenBob)
    }
    discard(_parent, of: [book, ada, bob])
    child { _ in
      #expect(seenAda.objects("books") == [seen])
      #expect(seenBob.objects("books").isEmpty)
      #expect(seen.object("author") === seenAda)
    }
  }

  @Test(arguments: Discard.allCases)
  func `both ends of a dropped pair are read again`(_ discard: Discard) throws {
    let tag = try _stack.stored("Tag"), book = try _stack.stored("Book")
    _parent.performAndWait { book.mutableSetValue(forKey: "tags").add(tag) }
    let (seenTag, seen) = child { ($0.object(with: tag.objectID), $0.object(with: book.objectID)) }
    child { _ in
      #expect(seen.objects("tags") == [seenTag])
      #expect(seenTag.objects("books") == [seen])
    }
    discard(_parent, of: [book, tag])
    child { _ in
      #expect(seen.objects("tags").isEmpty)
      #expect(seenTag.objects("books").isEmpty)
    }
  }

  // MARK: Insertions

  @Test(arguments: Discard.ofInsertions)
  func `a dropped insertion is gone in the child`(_ discard: Discard) throws {
    let ada = _parent.performAndWait { _parent.insert("Author", ["name": "Ada"]) }
    let seen = try child { try #require(try $0.all("Author").first) }
    discard(_parent, of: [ada])
    try child { context throws in
      #expect(try context.all("Author").isEmpty)
      #expect(context.registeredObjects.isEmpty)
      #expect(seen.managedObjectContext == nil)
      #expect(!context.hasChanges)
    }
  }

  @Test func `an insertion deleted before its save is gone in the child`() throws {
    let ada = _parent.performAndWait { _parent.insert("Author", ["name": "Ada"]) }
    let seen = try child { try #require(try $0.all("Author").first) }
    try _parent.performAndWait {
      _parent.delete(ada)
      try _parent.save()
    }
    child { context in
      #expect(context.registeredObjects.isEmpty)
      #expect(seen.managedObjectContext == nil)
    }
  }

  @Test(arguments: Discard.ofInsertions, [true, false])
  func `a child's link to a dropped insertion is cut`(_ discard: Discard, hasPermanentID: Bool)
    throws
  {
    let ada = _parent.performAndWait { _parent.insert("Author", ["name": "Ada"]) }
    if hasPermanentID { try _parent.performAndWait { try _parent.obtainPermanentIDs(for: [ada]) } }
    let book = try child {
      let author = try #require(try $0.all("Author").first)
      return $0.insert("Book", ["title": "Notes", "author": author])
    }
    discard(_parent, of: [ada])
    try child {
      #expect(book.object("author") == nil)
      try $0.save()
    }
    try _parent.performAndWait { try _parent.save() }
    try _stack.fresh { context throws in
      #expect(try context.count("Author") == 0)
      #expect(try context.all("Book").map { $0.object("author") } == [nil])
    }
  }

  /// The child saves in the block in which the parent drops the insertion, so that it cannot know yet.
  @Test(arguments: Discard.ofInsertions, [true, false])
  func `a child may save a link before it learns of the drop`(_ discard: Discard, hasPermanentID: Bool)
    throws
  {
    let ada = _parent.performAndWait { _parent.insert("Author", ["name": "Ada"]) }
    if hasPermanentID { try _parent.performAndWait { try _parent.obtainPermanentIDs(for: [ada]) } }
    let book = try child {
      let author = try #require(try $0.all("Author").first)
      author.setValue("Countess", forKey: "name")
      let book = $0.insert("Book", ["title": "Notes", "author": author])
      discard(_parent, of: [ada])
      try $0.save()
      return book
    }
    try _parent.performAndWait { () throws in
      #expect(try _parent.all("Author").isEmpty)
      #expect(try _parent.all("Book").map { $0.object("author") } == [nil])
      try _parent.save()
    }
    child { _ in #expect(book.object("author") == nil) }
    try _stack.fresh { context throws in
      #expect(try context.count("Author") == 0)
      #expect(try context.all("Book").map { $0.object("author") } == [nil])
    }
  }

  // MARK: Deletions

  @Test(arguments: Discard.allCases)
  func `an object whose deletion is dropped is there again`(_ discard: Discard) throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    let book = try _stack.stored("Book", ["author": ada])
    _parent.performAndWait {
      _parent.delete(book)
      _parent.processPendingChanges()
    }
    let seen = child { $0.object(with: ada.objectID) }
    child { _ in #expect(seen.objects("books").isEmpty) }
    discard(_parent, of: [book, ada])
    try child { context throws in
      #expect(seen.objects("books").map(\.objectID) == [book.objectID])
      #expect(try context.count("Book") == 1)
    }
  }

  /// The parent's move hides the book from the author, so that the child's deletion does not reach it.
  @Test(arguments: Discard.allCases, [true, false])
  func `delete rules reach a link that comes back`(_ discard: Discard, isHeld: Bool) throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    let book = try _stack.stored("Book", ["author": ada])
    _parent.performAndWait { book.setValue(nil, forKey: "author") }
    let id = book.objectID
    child { context in
      if isHeld { #expect(context.object(with: id).object("author") == nil) }
      context.delete(context.object(with: ada.objectID))
      context.processPendingChanges()
    }
    discard(_parent, of: [book, ada])
    try child { try $0.save() }
    try _parent.performAndWait { try _parent.save() }
    _stack.fresh { #expect($0.object(with: id).object("author") == nil) }
  }

  // MARK: Conflicts

  @Test func `a change that the merge policy drops is read again`() throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    _parent.performAndWait {
      _parent.mergePolicy = NSMergePolicy.rollback
      ada.setValue("Dropped", forKey: "name")
    }
    let seen = child { $0.object(with: ada.objectID) }
    child { _ in #expect(seen.text("name") == "Dropped") }
    let other = _stack.sibling()
    try other.performAndWait {
      other.object(with: ada.objectID).setValue("Countess", forKey: "name")
      try other.save()
    }
    try _parent.performAndWait { try _parent.save() }
    child { _ in #expect(seen.text("name") == "Countess") }
  }

  /// What the parent knows of the author's books before the child takes the book out, and does after that.
  enum Knowledge: CaseIterable { case nothing, members, addition, later }

  @Test(arguments: Knowledge.allCases)
  func `a member whose removal by a child the merge policy drops is a member again`(_ known: Knowledge) throws
  {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    let book = try _stack.stored("Book", ["title": "Notes"])
    let second = try _stack.stored("Book", ["title": "Second"])
    try _parent.performAndWait {
      _parent.mergePolicy = NSMergePolicy.rollback
      book.setValue(ada, forKey: "author")
      try _parent.save()
      _parent.refreshAllObjects()
      if known == .members { #expect(ada.objects("books") == [book]) }
    }
    try child {
      $0.object(with: book.objectID).setValue(nil, forKey: "author")
      try $0.save()
    }
    _parent.performAndWait {
      if known == .later { #expect(ada.objects("books").isEmpty) }
      if known == .addition { second.setValue(ada, forKey: "author") }
      book.setValue(7, forKey: "pages")
      _parent.processPendingChanges()
    }
    let other = _stack.sibling()
    try other.performAndWait {
      for id in [book.objectID, second.objectID] { other.object(with: id).setValue(8, forKey: "pages") }
      try other.save()
    }
    try _parent.performAndWait {
      try _parent.save()
      #expect(book.object("author") == ada)
      #expect(ada.objects("books") == [book])
    }
  }

  /// What the parent knows of the deleted book's tag.
  enum Acquaintance: CaseIterable { case none, object, membersBefore, membersAfter }

  @Test(arguments: Acquaintance.allCases, [true, false])
  func `a member of a many-to-many whose deletion the merge policy drops is a member again`(
    _ known: Acquaintance, isDeletedByChild: Bool
  ) throws {
    let (bookID, tagID) = try _stack.fresh { context in
      let tag = context.insert("Tag", ["name": "algebra"])
      let book = context.insert("Book", ["title": "Notes", "tags": Set([tag])])
      try context.save()
      return (book.objectID, tag.objectID)
    }
    let book = _parent.performAndWait { _parent.object(with: bookID) }
    var tag: NSManagedObject?
    _parent.performAndWait {
      _parent.mergePolicy = NSMergePolicy.rollback
      if known != .none { tag = _parent.object(with: tagID) }
      if known == .membersBefore { #expect(tag?.objects("books") == [book]) }
      // Without a change of its own, the policy is not asked: the child's deletion is of the newest row.
      book.setValue(7, forKey: "pages")
      _parent.processPendingChanges()
    }
    if isDeletedByChild {
      try child {
        $0.delete($0.object(with: bookID))
        try $0.save()
      }
    }
    _parent.performAndWait {
      if !isDeletedByChild { _parent.delete(book) }
      _parent.processPendingChanges()
      if known == .membersAfter { #expect(tag?.objects("books").isEmpty == true) }
    }
    try _stack.fresh { context in
      context.object(with: bookID).setValue(8, forKey: "pages")
      try context.save()
    }
    try _parent.performAndWait {
      try _parent.save()
      #expect(book.value(forKey: "pages") as? Int == 8)
      #expect(book.objects("tags").map(\.objectID) == [tagID])
      #expect(_parent.object(with: tagID).objects("books") == [book])
    }
    _stack.fresh { #expect($0.object(with: tagID).objects("books").map(\.objectID) == [bookID]) }
  }

  @Test func `a change to a row that is gone is dropped everywhere`() throws {
    let ada = try _stack.stored("Author", ["name": "Ada"])
    _parent.performAndWait {
      _parent.mergePolicy = NSMergePolicy.rollback
      ada.setValue("Dropped", forKey: "name")
    }
    let seen = child { $0.object(with: ada.objectID) }
    let book = child { $0.insert("Book", ["author": seen]) }
    let other = _stack.sibling()
    try other.performAndWait {
      other.delete(other.object(with: ada.objectID))
      try other.save()
    }
    try _parent.performAndWait { try _parent.save() }
    child { _ in #expect(book.object("author") == nil) }
  }

  @Test func `an insertion that was made again is not discarded, however many discards follow`() throws {
    let entity = _stack.coordinator.managedObjectModel.entitiesByName["Author"]!
    let object = _parent.performAndWait { NSManagedObject(entity: entity, insertInto: _parent) }
    let id = object.objectID
    let entry = ChangeLayer.Entry(
      kind: .inserted, id: id, base: nil, row: object._current, changed: SlotSet(), isWhole: true)
    let kept = (0..<40).map { _ in DiscardedChanges([entry]) }
    var discards = RecentDiscards()
    discards.append(kept[0])
    #expect(discards.hasInsertion(id))
    discards.forgetInsertion(id)
    for changes in kept.dropFirst() { discards.append(changes) }
    #expect(!discards.hasInsertion(id))
  }
}
