import CoreData
import Foundation
import Testing

@Suite struct UndoManagerTests {
  /// A number with undoable changes.
  private final class Counter {
    let manager = UndoManager()
    private(set) var value = 0
    func set(_ new: Int) {
      let old = value
      manager.registerUndo(withTarget: self) { $0.set(old) }
      value = new
    }
  }

  private func counter() -> Counter {
    let counter = Counter()
    counter.manager.groupsByEvent = false
    return counter
  }

  private func group(_ counter: Counter, _ name: String = "", _ body: () -> Void) {
    counter.manager.beginUndoGrouping()
    body()
    counter.manager.setActionName(name)
    counter.manager.endUndoGrouping()
  }

  @Test func `groups are undone and redone as one`() {
    let counter = counter()
    group(counter) {
      counter.set(1)
      counter.set(2)
    }
    group(counter) { counter.set(3) }
    counter.manager.undo()
    #expect(counter.value == 2)
    counter.manager.undo()
    #expect(counter.value == 0)
    #expect(!counter.manager.canUndo)
    counter.manager.redo()
    counter.manager.redo()
    #expect(counter.value == 3)
    #expect(!counter.manager.canRedo)
  }

  @Test func `a new change forgets what could be redone`() {
    let counter = counter()
    group(counter) { counter.set(1) }
    counter.manager.undo()
    #expect(counter.manager.canRedo)
    group(counter) { counter.set(5) }
    #expect(!counter.manager.canRedo)
  }

  @Test func `nested groups belong to the outer one`() {
    let counter = counter()
    group(counter) {
      counter.set(1)
      group(counter) { counter.set(2) }
    }
    #expect(counter.manager.groupingLevel == 0)
    counter.manager.undo()
    #expect(counter.value == 0)
  }

  @Test func `an events group is opened by itself`() {
    let counter = Counter()
    counter.set(1)
    counter.set(2)
    #expect(counter.manager.groupingLevel == 1)
    counter.manager.undo()
    #expect(counter.value == 0)
    #expect(counter.manager.groupingLevel == 0)
  }

  @Test func `only so many levels are kept`() {
    let counter = counter()
    counter.manager.levelsOfUndo = 2
    for value in 1...4 { group(counter) { counter.set(value) } }
    while counter.manager.canUndo { counter.manager.undo() }
    #expect(counter.value == 2)
  }

  @Test func `disabled registration records nothing`() {
    let counter = counter()
    counter.manager.disableUndoRegistration()
    #expect(!counter.manager.isUndoRegistrationEnabled)
    group(counter) { counter.set(1) }
    counter.manager.enableUndoRegistration()
    #expect(!counter.manager.canUndo)
  }

  @Test func `actions of one target can be forgotten`() {
    let counter = counter()
    group(counter) { counter.set(1) }
    counter.manager.removeAllActions(withTarget: counter)
    #expect(!counter.manager.canUndo)
  }

  @Test func `names go with the groups`() {
    let counter = counter()
    group(counter, "Typing") { counter.set(1) }
    #expect(counter.manager.undoMenuItemTitle == "Undo Typing")
    counter.manager.undo()
    #expect(counter.manager.undoActionName == "")
    #expect(counter.manager.redoMenuItemTitle == "Redo Typing")
    counter.manager.redo()
    #expect(counter.manager.undoActionName == "Typing")
  }

  @Test func `notifications tell of groups and undo`() {
    let counter = counter()
    let opened = Posted(.NSUndoManagerDidOpenUndoGroup, by: counter.manager)
    let closed = Posted(.NSUndoManagerDidCloseUndoGroup, by: counter.manager)
    let undone = Posted(.NSUndoManagerDidUndoChange, by: counter.manager)
    let redone = Posted(.NSUndoManagerDidRedoChange, by: counter.manager)
    group(counter) { counter.set(1) }
    #expect(opened.userInfos.count == 1)
    #expect(closed.userInfos.count == 1)
    counter.manager.undo()
    #expect(undone.userInfos.count == 1)
    counter.manager.redo()
    #expect(redone.userInfos.count == 1)
  }

  @Test func `registering outside a group traps`() async {
    await #expect(processExitsWith: .failure) {
      let manager = UndoManager()
      manager.groupsByEvent = false
      manager.registerUndo(withTarget: manager) { _ in }
    }
  }
}
