import CoreData
import Foundation
import Testing

/// A link that two contexts create independently.
@Suite struct SameLinkTests {
  /// Merges the other one's save, then that of a third context, which moves the link on.
  @Test(arguments: Setting.direct)
  func `a third context that moves it takes it from both`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ids = try ["Old", "Same", "New"].map { try stack.stored("Author", ["name": $0]).objectID }
    let book = try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["author": stack.root.object(with: ids[0])])
      try stack.root.save()
      return book.objectID
    }
    let context = stack.sibling(), other = stack.sibling()
    let mine = context.performAndWait {
      let mine = context.object(with: book), authors = ids.map { context.object(with: $0) }
      mine.setValue(authors[1], forKey: "author")
      return (mine, authors)
    }
    func move(to author: Int) throws -> Notification {
      try other.saved { other.object(with: book).setValue(other.object(with: ids[author]), forKey: "author") }
    }
    for save in try [move(to: 1), move(to: 2)] {
      context.performAndWait { context.mergeChanges(fromContextDidSave: save) }
    }
    context.performAndWait {
      let (book, authors) = mine
      #expect(book.object("author") === authors[2])
      #expect(authors.map { $0.objects("books").count } == [0, 0, 1])
    }
  }
}
