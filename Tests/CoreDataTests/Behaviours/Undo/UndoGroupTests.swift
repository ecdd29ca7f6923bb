import CoreData
import Foundation
import Testing

/// Nested groups, groups of events, counts and discardable actions of an undo manager.
@Suite struct UndoGroupTests {
  private final class Counter {
    let manager = UndoManager()
    private(set) var value = 0

    init(groupsByEvent: Bool = false) { manager.groupsByEvent = groupsByEvent }

    func set(_ new: Int) {
      let old = value
      manager.registerUndo(withTarget: self) { $0.set(old) }
      value = new
    }

    func group(_ body: () -> Void) {
      manager.beginUndoGrouping()
      body()
      manager.endUndoGrouping()
    }
  }

  @Test func `the last nested group is undone inside an open one`() {
    let counter = Counter()
    counter.manager.beginUndoGrouping()
    counter.set(1)
    counter.group { counter.set(2) }
    counter.group { counter.set(3) }
    counter.manager.undoNestedGroup()
    #expect(counter.value == 2)
    counter.manager.undoNestedGroup()
    #expect(counter.value == 1)
    // What is left in the open group is no group.
    counter.manager.undoNestedGroup()
    #expect(counter.value == 1)
    counter.manager.endUndoGrouping()
    counter.manager.undo()
    #expect(counter.value == 0)
  }

  @Test func `without an open group the last one is undone`() {
    let counter = Counter()
    counter.group { counter.set(1) }
    counter.group { counter.set(2) }
    #expect(counter.manager.undoCount == 2 && counter.manager.redoCount == 0)
    counter.manager.undoNestedGroup()
    #expect(counter.value == 1)
    #expect(counter.manager.undoCount == 1 && counter.manager.redoCount == 1)
    counter.manager.redo()
    #expect(counter.value == 2 && counter.manager.redoCount == 0)
  }

  @Test func `a group may be discardable`() {
    let counter = Counter()
    #expect(!counter.manager.undoActionIsDiscardable && !counter.manager.redoActionIsDiscardable)
    counter.group {
      counter.set(1)
      counter.manager.setActionIsDiscardable(true)
    }
    #expect(counter.manager.undoActionIsDiscardable)
    counter.group { counter.set(2) }
    #expect(!counter.manager.undoActionIsDiscardable)
    counter.manager.setActionIsDiscardable(true)
    #expect(counter.manager.undoActionIsDiscardable)
  }

  @MainActor @Test func `the changes of one turn of the main queue are one group`() async {
    let counter = Counter(groupsByEvent: true)
    func turn() async { await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } } }
    counter.set(1)
    counter.set(2)
    await turn()
    await turn()
    counter.set(3)
    await turn()
    await turn()
    counter.manager.undo()
    #expect(counter.value == 2)
    counter.manager.undo()
    #expect(counter.value == 0)
  }
}
