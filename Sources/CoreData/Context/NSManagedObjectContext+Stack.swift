import Foundation

// The parent, coordinator and stores behind a context.

extension NSManagedObjectContext {
  /// The context's coordinator, or that of the root of its parents.
  final var rootCoordinator: NSPersistentStoreCoordinator? {
    _coordinator ?? _parent?.rootCoordinator
  }

  /// Whether any store ends fetches of cancelled Tasks and reset contexts.
  final var endsCancelledFetches: Bool {
    rootCoordinator?.endsCancelledFetches.load(ordering: .relaxed) ?? false
  }

  /// The context's model; nil without a coordinator or with an invalid model.
  @inline(__always)
  final var frozen: FrozenModel? {
    if let known = memo.model { return known }
    memo.model = persistentStoreCoordinator?.frozen
    return memo.model
  }

  final func connect(to coordinator: NSPersistentStoreCoordinator?) {
    guard coordinator !== _coordinator else { return }
    if _parent != nil {
      programmerError("\(label) has a parent context; it cannot have a coordinator of its own.")
    }
    if let old = _coordinator {
      guard table.count == 0 else {
        programmerError(
          "\(label) is in use; its coordinator cannot be changed. Make a new context instead.")
      }
      old.disconnect(self)
      memo.forgetModel()
    }
    _coordinator = coordinator
    ages.cache = nil
    if automaticallyMergesChangesFromParent { coordinator?.connect(self) }
  }

  final func connect(toParent parent: NSManagedObjectContext?) {
    guard parent !== _parent else { return }
    if _coordinator != nil {
      programmerError("\(label) has a coordinator; it cannot have a parent context too.")
    }
    guard table.count == 0, unsaved.isEmpty else {
      programmerError("\(label) is in use; its parent cannot be changed. Make a new context instead.")
    }
    if let parent {
      if parent._concurrencyType == .confinement {
        programmerError("a parent context must work on a queue; \(parent.label) does not.")
      }
      // First of all: the parent's queue looks at it as soon as the parent has the child among its readers.
      _parent = parent
      parent.overlay.addReader(self)
    } else {
      _parent = nil
    }
    ages.cache = nil
  }

  /// The name, or kind and address, for messages.
  final var label: String {
    if let name { return "context '\(name)'" }
    let kind =
      switch _concurrencyType {
      case .mainQueueConcurrencyType: "main-queue"
      case .privateQueueConcurrencyType: "private-queue"
      default: "confinement"
      }
    return "\(kind) context \(Unmanaged.passUnretained(self).toOpaque())"
  }
}
