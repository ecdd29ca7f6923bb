import CoreData
import Foundation
import Testing

/// Adding members that are already present, removing absent ones, and undoing either: the last operation
/// wins, whatever the previous state.
@Suite struct RedundantMemberTests {
  /// Creates a book, with or without the tag, that a context is about to see for the first time.
  private func stored(_ stack: TestStack, tagged: Bool) throws -> (
    book: NSManagedObjectID, tag: NSManagedObjectID
  ) {
    let tag = try stack.stored("Tag", ["name": "T"])
    return try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["title": "B"])
      if tagged { book.setValue(Set([tag]), forKey: "tags") }
      try stack.root.save()
      return (book.objectID, tag.objectID)
    }
  }

  private func tags(_ stack: TestStack, of book: NSManagedObjectID) -> Int {
    stack.fresh { $0.object(with: book).objects("tags").count }
  }

  private func chapters(_ book: NSManagedObjectID, in context: NSManagedObjectContext) -> Int? {
    (context.object(with: book).value(forKey: "chapters") as? NSOrderedSet)?.count
  }

  @Test(arguments: Setting.allCases)
  func `a member added again and removed is gone`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: true)
    let context = setting.isNested ? stack.context : stack.sibling()
    try context.performAndWait {
      let tags = context.object(with: book).mutableSetValue(forKey: "tags")
      tags.add(context.object(with: tag))
      tags.remove(context.object(with: tag))
      #expect(context.object(with: tag).objects("books").isEmpty)
      try context.save()
      #expect(context.object(with: tag).objects("books").isEmpty)
    }
    if setting.isNested { try stack.save() }
    #expect(tags(stack, of: book) == 0)
  }

  @Test(arguments: Setting.allCases)
  func `a member added again is still there when that is undone`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: true)
    let context = setting.isNested ? stack.context : stack.sibling()
    try context.performAndWait {
      context.undoManager = UndoManager()
      let mine = context.object(with: book), its = context.object(with: tag)
      mine.mutableSetValue(forKey: "tags").add(its)
      context.processPendingChanges()
      context.undo()
      #expect(mine.objects("tags") == [its])
      #expect(its.objects("books") == [mine])
      try context.save()
    }
    if setting.isNested { try stack.save() }
    #expect(tags(stack, of: book) == 1)
  }

  /// The first save adds a tag that another context has added by then.
  @Test(arguments: Setting.nested, [false, true])
  func `a member added in one save and removed in the next is gone`(_ setting: Setting, isHeld: Bool) throws {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: false)
    let context = stack.context
    let held = isHeld ? stack.root.performAndWait { stack.root.object(with: book) } : nil
    context.performAndWait {
      let mine = context.object(with: book)
      #expect(mine.objects("tags").isEmpty)
    }
    let other = stack.sibling()
    try other.performAndWait {
      other.object(with: book).setValue(Set([other.object(with: tag)]), forKey: "tags")
      try other.save()
    }
    try context.performAndWait {
      let mine = context.object(with: book)
      mine.setValue(Set([context.object(with: tag)]), forKey: "tags")
      try context.save()
      mine.setValue(Set<NSManagedObject>(), forKey: "tags")
      try context.save()
      #expect(mine.objects("tags").isEmpty)
    }
    try stack.root.performAndWait {
      stack.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try stack.root.save()
    }
    #expect(tags(stack, of: book) == 0)
    _ = held
  }

  /// It was read as a chapter of the book, whose chapters had been read before.
  @Test(arguments: Setting.nested)
  func `a member added again and moved away is gone for the parent`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (root, context) = (stack.root, stack.context)
    let old = try stack.stored("Book", ["title": "Old"]).objectID
    let new = try stack.stored("Book", ["title": "New"]).objectID
    context.performAndWait { #expect(chapters(old, in: context) == 0) }
    let other = stack.sibling()
    let insertion = try other.saved { other.insert("Chapter", ["book": other.object(with: old)]) }
    root.performAndWait {
      root.mergeChanges(fromContextDidSave: insertion)
      #expect(chapters(old, in: root) == 1)
    }
    try context.performAndWait {
      let chapter = try #require(try context.all("Chapter").first)
      #expect(chapter.object("book") === context.object(with: old))
      context.object(with: old).mutableOrderedSetValue(forKey: "chapters").insert(chapter, at: 0)
      chapter.setValue(context.object(with: new), forKey: "book")
      try context.save()
    }
    root.performAndWait {
      #expect(chapters(old, in: root) == 0)
      #expect(chapters(new, in: root) == 1)
    }
  }

  /// The book refers to the author, whose books were read before; then the parent moves the book on.
  @Test(arguments: Setting.direct)
  func `a member by its own end is not added for the parent`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root)
    let ids = try ["Old", "New"].map { try stack.stored("Author", ["name": $0]).objectID }
    child.performAndWait { #expect(child.object(with: ids[0]).objects("books").isEmpty) }
    let book = root.performAndWait {
      root.insert("Book", ["title": "B", "author": root.object(with: ids[0])])
    }
    try child.performAndWait {
      let old = child.object(with: ids[0])
      old.setValue(Set(try child.all("Book")), forKey: "books")
      #expect(old.objects("books").count == 1)
    }
    root.performAndWait { book.setValue(root.object(with: ids[1]), forKey: "author") }
    try child.performAndWait { try child.save() }
    root.performAndWait {
      #expect(book.object("author") === root.object(with: ids[1]))
      #expect(ids.map { root.object(with: $0).objects("books").count } == [0, 1])
    }
  }

  @Test(arguments: Setting.nested)
  func `a member inserted and deleted in the next save has no owner`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (book, _) = try stored(stack, tagged: false)
    let context = stack.context
    try context.performAndWait {
      let tag = context.insert("Tag", ["name": "Short-lived"])
      context.object(with: book).setValue(Set([tag]), forKey: "tags")
      try context.save()
      context.delete(tag)
      try context.save()
    }
    try stack.root.performAndWait { try stack.root.save() }
    #expect(tags(stack, of: book) == 0)
  }

  /// This context and another remove the tag from the book; the other saves first.
  @Test(arguments: Setting.direct, [false, true])
  func `a removed member that others removed too is saved when added`(_ setting: Setting, isRead: Bool) throws
  {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: true)
    let context = stack.sibling(), other = stack.sibling()
    try context.performAndWait {
      let mine = context.object(with: book), its = context.object(with: tag)
      mine.mutableSetValue(forKey: "tags").remove(its)
      let removal = try other.saved {
        other.object(with: book).setValue(Set<NSManagedObject>(), forKey: "tags")
      }
      context.mergeChanges(fromContextDidSave: removal)
      if isRead { #expect(mine.objects("tags").isEmpty && its.objects("books").isEmpty) }
      mine.mutableSetValue(forKey: "tags").add(its)
      try context.save()
      #expect(mine.objects("tags") == [its])
      #expect(its.objects("books") == [mine])
    }
    #expect(tags(stack, of: book) == 1)
  }

  /// The child has removed the tag, which another context has removed in the store.
  @Test(arguments: Setting.direct)
  func `a member removed by a child and others can be added again`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: true)
    let root = stack.root, child = stack.child(of: root), other = stack.sibling()
    child.performAndWait { #expect(child.object(with: tag).objects("books").count == 1) }
    let removal = try other.saved {
      other.object(with: book).setValue(Set<NSManagedObject>(), forKey: "tags")
    }
    try child.performAndWait {
      child.object(with: tag).setValue(Set<NSManagedObject>(), forKey: "books")
      try child.save()
    }
    try root.performAndWait {
      root.mergeChanges(fromContextDidSave: removal)
      let mine = root.object(with: book), its = root.object(with: tag)
      mine.mutableSetValue(forKey: "tags").add(its)
      root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try root.save()
      #expect(mine.objects("tags") == [its])
      #expect(its.objects("books") == [mine])
    }
    #expect(tags(stack, of: book) == 1)
  }

  /// Others have removed the book from the author; the child knows this of the book, but not of the author's
  /// books.
  @Test(arguments: Setting.direct)
  func `a removal of what is no member any more is not handed up`(setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root), other = stack.sibling()
    let author = try stack.stored("Author", ["name": "Ada"]).objectID
    let book = try root.performAndWait {
      let book = root.insert("Book", ["title": "B", "author": root.object(with: author)])
      try root.save()
      return book.objectID
    }
    let (its, mine) = child.performAndWait { (child.object(with: author), child.object(with: book)) }
    child.performAndWait { #expect(its.objects("books") == [mine]) }
    try other.performAndWait {
      other.object(with: book).setValue(nil, forKey: "author")
      try other.save()
    }
    child.performAndWait {
      child.refresh(mine, mergeChanges: false)
      #expect(mine.object("author") == nil)
      its.mutableSetValue(forKey: "books").remove(mine)
    }
    root.performAndWait {
      root.refresh(root.object(with: book), mergeChanges: false)
      root.object(with: book).setValue(root.object(with: author), forKey: "author")
    }
    try child.performAndWait { try child.save() }
    root.performAndWait {
      #expect(root.object(with: book).object("author") === root.object(with: author))
      #expect(root.object(with: author).objects("books") == [root.object(with: book)])
    }
  }

  /// One child removes what the parent has added without saving, another adds it again.
  @Test(arguments: [Setting.sqlite, .memory], [[], ["books"], ["tags"], ["books", "tags"]])
  func `an unsaved member removed and added below is saved`(_ setting: Setting, read: [String]) throws {
    let stack = try TestStack(setting)
    let (book, tag) = try stored(stack, tagged: false)
    let parent = stack.sibling()
    let follower = stack.sibling()
    let (itsBook, itsTag) = follower.performAndWait {
      (follower.object(with: book), follower.object(with: tag))
    }
    follower.performAndWait {
      #expect(itsBook.objects("tags").isEmpty)
      #expect(itsTag.objects("books").isEmpty)
    }
    follower.automaticallyMergesChangesFromParent = true
    let (parentBook, parentTag) = parent.performAndWait {
      (parent.object(with: book), parent.object(with: tag))
    }
    parent.performAndWait {
      if read.contains("books") { #expect(parentTag.objects("books").isEmpty) }
      if read.contains("tags") { #expect(parentBook.objects("tags").isEmpty) }
      parentTag.mutableSetValue(forKey: "books").add(parentBook)
    }
    let (first, second) = (stack.child(of: parent), stack.child(of: parent))
    try first.performAndWait {
      first.object(with: book).mutableSetValue(forKey: "tags").remove(first.object(with: tag))
      try first.save()
    }
    try second.performAndWait {
      second.object(with: tag).mutableSetValue(forKey: "books").add(second.object(with: book))
      try second.save()
    }
    try parent.performAndWait {
      #expect(parentTag.objects("books") == [parentBook])
      #expect(parentBook.objects("tags") == [parentTag])
      try parent.save()
    }
    #expect(tags(stack, of: book) == 1)
    follower.performAndWait {
      #expect(itsTag.objects("books") == [itsBook])
      #expect(itsBook.objects("tags") == [itsTag])
    }
  }
}
