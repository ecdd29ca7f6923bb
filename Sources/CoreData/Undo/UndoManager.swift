import Foundation

/// Records how to undo changes, and undoes them in groups. Foundation has no undo manager on Linux; this one
/// has the same API, without selectors and invocations.
///
/// Not thread-safe: use it where the recorded objects are used; for a context's manager, on the context's
/// queue. With `groupsByEvent`, the first registration opens a group, which is closed by `undo()`, at the end
/// of the main queue's turn, or at the end of the `perform` block of the manager's context.
///
/// ```swift
/// context.undoManager = UndoManager()
/// book.title = "Orlando"
/// context.processPendingChanges()
/// context.undo()
/// ```
open class UndoManager: NSObject {
  private var _undoStack: [UndoGroup] = []
  private var _redoStack: [UndoGroup] = []
  /// Open groups, outermost first.
  private var _open: [UndoGroup] = []
  private var _disabled = 0
  private var _isEventGroupOpen = false
  private var _isEventEndScheduled = false

  public override init() { super.init() }

  // MARK: Grouping

  /// Whether a registration opens a group for all registrations of the current event.
  open var groupsByEvent = true

  /// The maximum number of top-level groups; 0 for no limit.
  open var levelsOfUndo = 0 {
    didSet { _trim() }
  }

  /// Run loop modes in which an event's group is closed; present for source compatibility.
  open var runLoopModes: [RunLoop.Mode] = [.default]

  /// The number of open groups.
  open var groupingLevel: Int { _open.count }

  /// Opens a group; groups nest.
  ///
  /// ```swift
  /// let manager = UndoManager()
  /// manager.groupsByEvent = false
  /// context.undoManager = manager
  /// manager.beginUndoGrouping()
  /// for book in try context.fetch(request) { book.isRead = true }
  /// context.processPendingChanges()
  /// manager.endUndoGrouping()
  /// manager.undo()  // takes all of them back
  /// ```
  open func beginUndoGrouping() {
    if groupsByEvent, _open.isEmpty, !isUndoing, !isRedoing { _openEventGroup() }
    _begin()
  }

  /// Closes the innermost group. Traps if none is open.
  open func endUndoGrouping() {
    guard !_open.isEmpty else {
      programmerError("endUndoGrouping was called without beginUndoGrouping.")
    }
    _end()
  }

  private func _begin() {
    if !_open.isEmpty { _post(.NSUndoManagerCheckpoint) }
    _open.append(UndoGroup())
    _post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func _end() {
    _post(.NSUndoManagerCheckpoint)
    let isDiscardable = _open.last?.isDiscardable ?? false
    _post(.NSUndoManagerWillCloseUndoGroup, [NSUndoManagerGroupIsDiscardableKey: isDiscardable])
    let group = _open.removeLast()
    if _open.isEmpty { _isEventGroupOpen = false }
    if !group.items.isEmpty {
      if let outer = _open.last {
        outer.items.append(.group(group))
        if outer.name.isEmpty { outer.name = group.name }
      } else if isUndoing {
        _redoStack.append(group)
      } else {
        _undoStack.append(group)
      }
    }
    _trim()
    _post(.NSUndoManagerDidCloseUndoGroup)
  }

  private func _openEventGroup() {
    _begin()
    _isEventGroupOpen = true
    guard ContextQueue.isRunningMainQueue, !_isEventEndScheduled else { return }
    _isEventEndScheduled = true
    // Unchecked: the manager is used on the main queue only, now and in the block. (`weak let` needs Swift
    // 6.3.)
    struct Later: @unchecked Sendable { weak var manager: UndoManager? }
    let later = Later(manager: self)
    DispatchQueue.main.async {
      later.manager?._isEventEndScheduled = false
      later.manager?.endEvent()
    }
  }

  /// Closes the group that a registration opened, unless a nested group is still open.
  package final func endEvent() {
    if _isEventGroupOpen, _open.count == 1 { _end() }
  }

  private func _trim() {
    guard levelsOfUndo > 0 else { return }
    if _undoStack.count > levelsOfUndo { _undoStack.removeFirst(_undoStack.count - levelsOfUndo) }
    if _redoStack.count > levelsOfUndo { _redoStack.removeFirst(_redoStack.count - levelsOfUndo) }
  }

  // MARK: Registering

  /// Whether registrations are recorded.
  open var isUndoRegistrationEnabled: Bool { _disabled == 0 }

  /// Stops recording until a matching `enableUndoRegistration()`; calls nest.
  ///
  /// ```swift
  /// context.processPendingChanges()
  /// context.undoManager?.disableUndoRegistration()
  /// for record in records { Book(context: context).title = record.title }
  /// context.processPendingChanges()
  /// context.undoManager?.enableUndoRegistration()
  /// ```
  open func disableUndoRegistration() { _disabled += 1 }

  /// Balances one `disableUndoRegistration()`. Traps without one.
  open func enableUndoRegistration() {
    guard _disabled > 0 else {
      programmerError("enableUndoRegistration was called without disableUndoRegistration.")
    }
    _disabled -= 1
  }

  /// Registers an action that undoes a change.
  ///
  /// Traps if no group is open and `groupsByEvent` is off. Does not retain the target; the action is skipped
  /// once the target is deallocated.
  ///
  /// ```swift
  /// final class Selection {
  ///   var row = 0
  ///   func select(_ row: Int, with manager: UndoManager) {
  ///     let old = self.row
  ///     manager.registerUndo(withTarget: self) { $0.select(old, with: manager) }
  ///     self.row = row
  ///   }
  /// }
  /// ```
  public final func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping (TargetType) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    if _open.isEmpty {
      guard groupsByEvent else {
        programmerError(
          "registerUndo was called outside any group while groupsByEvent is off. Call beginUndoGrouping() first."
        )
      }
      _openEventGroup()
    }
    if !isUndoing, !isRedoing { _redoStack.removeAll() }
    _open.last!.items.append(
      .action(UndoAction(target) { if let target = $0 as? TargetType { handler(target) } }))
  }

  /// Removes all actions and enables recording.
  open func removeAllActions() {
    _undoStack.removeAll()
    _redoStack.removeAll()
    _open.removeAll()
    _isEventGroupOpen = false
    _disabled = 0
  }

  /// Removes the actions of one target.
  open func removeAllActions(withTarget target: Any) {
    let target = target as AnyObject
    for group in _undoStack + _redoStack + _open { group.remove(target) }
    _undoStack.removeAll { $0.items.isEmpty }
    _redoStack.removeAll { $0.items.isEmpty }
  }

  // MARK: Undoing

  /// Whether a group is currently being undone.
  open private(set) var isUndoing = false

  /// Whether a group is currently being redone.
  open private(set) var isRedoing = false

  /// Whether there are actions to undo.
  open var canUndo: Bool { !_undoStack.isEmpty || _open.contains { !$0.items.isEmpty } }

  /// Whether there are actions to redo. Posts a checkpoint first, so that pending changes are registered.
  open var canRedo: Bool {
    _post(.NSUndoManagerCheckpoint)
    return !_redoStack.isEmpty
  }

  /// The number of groups that can be undone.
  open var undoCount: Int { _undoStack.count }

  /// The number of groups that can be redone.
  open var redoCount: Int { _redoStack.count }

  /// Closes the event's group and undoes the last top-level group. Traps while another group is open.
  open func undo() {
    _post(.NSUndoManagerCheckpoint)
    if _open.count == 1 { _end() }
    guard _open.isEmpty else {
      programmerError("undo was called with \(_open.count) groups open. Call endUndoGrouping() first.")
    }
    _undoLast()
  }

  /// Undoes the last group, nested or not.
  open func undoNestedGroup() {
    _post(.NSUndoManagerCheckpoint)
    if let outer = _open.last {
      // A group closed inside an open one is that one's last item.
      guard case .group(let group)? = outer.items.last else { return }
      outer.items.removeLast()
      _undoStack.append(group)
      let open = _open
      let isEvent = _isEventGroupOpen
      _open = []
      _undoLast()
      _open = open
      _isEventGroupOpen = isEvent
      return
    }
    _undoLast()
  }

  private func _undoLast() {
    guard !isUndoing, !isRedoing, let group = _undoStack.popLast() else { return }
    _post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    _run(group)
    isUndoing = false
    _post(.NSUndoManagerDidUndoChange)
  }

  /// Redoes the last undone group. Traps while a group is open.
  open func redo() {
    _post(.NSUndoManagerCheckpoint)
    guard !isUndoing, !isRedoing, !_redoStack.isEmpty else { return }
    endEvent()
    guard _open.isEmpty else {
      programmerError("redo was called with \(_open.count) groups open. Call endUndoGrouping() first.")
    }
    guard let group = _redoStack.popLast() else { return }
    _post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    _run(group)
    isRedoing = false
    _post(.NSUndoManagerDidRedoChange)
  }

  /// Runs a group's actions, last first, and collects their registrations in a group that reverses them.
  private func _run(_ group: UndoGroup) {
    _begin()
    _open.last!.name = group.name
    group.run()
    _end()
  }

  // MARK: Names

  /// The name of the group that `undo()` undoes; empty without one.
  open var undoActionName: String { _undoStack.last?.name ?? _open.first?.name ?? "" }

  /// The name of the group that `redo()` redoes; empty without one.
  open var redoActionName: String { _redoStack.last?.name ?? "" }

  /// Sets the name of the current group.
  ///
  /// ```swift
  /// context.undoManager?.setActionName("Change Title")
  /// let item = context.undoManager?.undoMenuItemTitle
  /// ```
  open func setActionName(_ actionName: String) {
    if let group = _open.last ?? _undoStack.last { group.name = actionName }
  }

  /// Title of a menu item for `undo()`.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

  /// Title of a menu item for `redo()`.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// Title of a menu item that undoes an action of this name.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// Title of a menu item that redoes an action of this name.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  // MARK: Discardable actions

  /// Marks the current group as discardable, such as a change of selection.
  open func setActionIsDiscardable(_ discardable: Bool) {
    (_open.last ?? _undoStack.last)?.isDiscardable = discardable
  }

  /// Whether the group that `undo()` undoes is discardable.
  open var undoActionIsDiscardable: Bool { _undoStack.last?.isDiscardable ?? false }

  /// Whether the group that `redo()` redoes is discardable.
  open var redoActionIsDiscardable: Bool { _redoStack.last?.isDiscardable ?? false }

  private func _post(_ name: NSNotification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }
}

/// Key for whether the group being closed is discardable.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"
/// Priority of closing an event's group in a run loop; present for source compatibility.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000

extension NSNotification.Name {
  /// Posted before a group is opened inside another or closed, before undo, and when checking for actions to
  /// redo: register pending changes now.
  public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
  /// Posted after a group was opened.
  public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group is closed.
  public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted after a group was closed.
  public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted before a group is undone.
  public static let NSUndoManagerWillUndoChange = NSNotification.Name(
    "NSUndoManagerWillUndoChangeNotification")
  /// Posted after a group was undone.
  public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted before a group is redone.
  public static let NSUndoManagerWillRedoChange = NSNotification.Name(
    "NSUndoManagerWillRedoChangeNotification")
  /// Posted after a group was redone.
  public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
}
