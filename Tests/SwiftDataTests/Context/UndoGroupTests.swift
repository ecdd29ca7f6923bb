import SwiftData
import Testing

/// Which changes one `undo()` takes back, without a run loop that would end events.
struct UndoGroupTests {
  private let _context: ModelContext
  private let _shelf = Shelf(code: "A", room: "hall")

  init() throws {
    _context = try ModelContext.ofShelves()
    _context.insert(_shelf)
    try _context.save()
    _context.undoManager = UndoManager()
  }

  private func _undo() { _context.undoManager?.undo() }

  @Test func `processing closes a group`() {
    _shelf.room = "attic"
    _context.processPendingChanges()
    _shelf.room = "cellar"
    _context.processPendingChanges()
    #expect(_context.undoManager?.undoCount == 2)
    _undo()
    #expect(_shelf.room == "attic")
    _undo()
    #expect(_shelf.room == "hall")
    _context.undoManager?.redo()
    _context.undoManager?.redo()
    #expect(_shelf.room == "cellar")
  }

  @Test func `what was not processed is taken back first`() {
    _shelf.room = "attic"
    _context.processPendingChanges()
    _shelf.room = "cellar"
    _undo()
    #expect(_shelf.room == "attic")
  }

  @Test func `a fetch closes no group`() throws {
    _shelf.room = "attic"
    #expect(try _context.fetch(FetchDescriptor<Shelf>()).count == 1)
    _context.insert(Shelf(code: "B"))
    #expect(try _context.fetchCount(FetchDescriptor<Shelf>()) == 2)
    _context.processPendingChanges()
    #expect(_context.undoManager?.undoCount == 1)
    _undo()
    #expect(try _shelf.room == "hall" && _context.fetchCount(FetchDescriptor<Shelf>()) == 1)
  }

  @Test func `a save closes no group`() throws {
    _shelf.room = "attic"
    try _context.save()
    _shelf.room = "cellar"
    try _context.save()
    _context.processPendingChanges()
    #expect(_context.undoManager?.undoCount == 1)
    _undo()
    #expect(_shelf.room == "hall" && _context.hasChanges)
  }

  @Test func `a group that the program has opened stays open`() {
    _context.undoManager?.beginUndoGrouping()
    _shelf.room = "attic"
    _context.processPendingChanges()
    _shelf.room = "cellar"
    _context.processPendingChanges()
    _context.undoManager?.endUndoGrouping()
    _undo()
    #expect(_shelf.room == "hall")
  }
}
