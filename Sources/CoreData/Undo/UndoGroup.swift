/// What is undone at once: actions and closed groups, in the order in which they were registered.
final class UndoGroup {
  enum Item {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var items: [Item] = []
  var name = ""
  var isDiscardable = false

  /// Takes everything back, last first.
  func run() {
    for item in items.reversed() {
      switch item {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }

  /// Forgets what was registered for a target.
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

/// One registered way back.
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
