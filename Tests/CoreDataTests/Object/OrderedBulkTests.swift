import CoreData
import Foundation
import Testing

/// Methods of a mutable ordered set that take several members.
@Suite struct OrderedBulkTests {
  private func _run(
    _ body: (NSMutableOrderedSet, [NSManagedObject]) throws -> Void, _ expected: [Int]
  ) throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let chapters = (0..<5).map { stack.context.insert("Chapter", ["heading": "\($0)"]) }
      let members = book.mutableOrderedSetValue(forKey: "chapters")
      try body(members, chapters)
      try stack.context.save()
      stack.context.reset()
      let read = try #require(try stack.context.all("Book").first)
      let headings = (read.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject]
      #expect(headings?.map { $0.text("heading") } == expected.map { "\($0)" })
    }
  }

  @Test func `an array is appended in its order`() throws {
    try _run({ $0.addObjects(from: $1) }, [0, 1, 2, 3, 4])
  }

  @Test func `a buffer's members are appended in their order`() throws {
    try _run(
      { members, chapters in
        (chapters as [AnyObject]).withUnsafeBufferPointer { members.add($0.baseAddress, count: 3) }
      }, [0, 1, 2])
  }

  @Test func `an array is inserted at the indexes`() throws {
    try _run(
      {
        $0.addObjects(from: [$1[0], $1[4]])
        $0.insert([$1[1], $1[2]], at: IndexSet(integersIn: 1...2))
      }, [0, 1, 2, 4])
  }

  @Test func `members are removed at the indexes`() throws {
    try _run(
      {
        $0.addObjects(from: $1)
        $0.removeObjects(at: IndexSet([1, 3]))
      }, [0, 2, 4])
  }

  @Test func `members are exchanged and moved`() throws {
    try _run(
      {
        $0.addObjects(from: $1)
        $0.exchangeObject(at: 0, withObjectAt: 4)
        $0.moveObjects(at: IndexSet(integer: 1), to: 3)
      }, [4, 2, 3, 1, 0])
  }

  @Test func `another set is united and subtracted`() throws {
    try _run(
      {
        $0.addObjects(from: Array($1[0...2]))
        $0.union(NSOrderedSet(array: Array($1[2...4])))
        $0.minus(NSOrderedSet(array: [$1[1]]))
      }, [0, 2, 3, 4])
  }

  @Test func `an insertion in front is undone and redone with the order`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let context = stack.context
      context.undoManager = UndoManager()
      context.undoManager?.groupsByEvent = false
      let chapters = (0..<3).map { context.insert("Chapter", ["heading": "\($0)"]) }
      let book = context.insert("Book")
      book.setValue(NSOrderedSet(array: Array(chapters[..<2])), forKey: "chapters")
      try context.save()
      context.undoManager?.removeAllActions()
      func headings() -> [String?]? {
        ((book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject])?.map {
          $0.text("heading")
        }
      }
      context.undoManager?.beginUndoGrouping()
      book.mutableOrderedSetValue(forKey: "chapters").insert(chapters[2], at: 0)
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
      #expect(headings() == ["2", "0", "1"])
      context.undoManager?.undo()
      #expect(headings() == ["0", "1"])
      context.undoManager?.redo()
      #expect(headings() == ["2", "0", "1"])
    }
  }
}
