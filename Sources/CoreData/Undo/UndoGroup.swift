/// A unit of undo: actions and closed groups, in order of registration.
final class UndoGroup {
  enum Item {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var items: [Item] = []
  var name = ""
  var isDiscardable = false

  /// Undoes everything, last first.
  func run() {
    for item in items.reversed() {
      switch item {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }

  /// Removes the actions of a target.
  func remove(_ target: AnyObject) {
    items.removeAll { item in
      switch item {
      case .action(let action):
        return action.target === target || action.target == nil
      case .group(let group):
        group.remove(target)
        return group.items.isEmpty
      }
    }
  }
}

/// A registered undo action.
struct UndoAction {
  weak var target: AnyObject?
  private let _handler: (AnyObject) -> Void

  init(_ target: AnyObject, handler: @escaping (AnyObject) -> Void) {
    self.target = target
    _handler = handler
  }

  func run() {
    if let target { _handler(target) }
  }
}
