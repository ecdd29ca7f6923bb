// Merges that wait for their turn on a context's queue.

extension ContextQueue {
  /// Enqueues a merge, which no caller waits for. It runs before any block sent to the context later, in a turn of its own
  /// or with others; see `WaitingMerges`. Does not retain the context.
  ///
  /// - Parameter add: Adds the merge to those that wait.
  func enqueueMerge(_ add: (inout WaitingMerges) -> Void) {
    if case .confinement = kind {
      var merges = WaitingMerges()
      add(&merges)
      while let group = merges.take(upTo: merges.last) { _merge(group) }
      return
    }
    let needsTurn = changeMerges { merges in
      add(&merges)
      defer { merges.hasTurn = true }
      return !merges.hasTurn
    }
    if needsTurn { _enqueueTurn() }
  }

  private func _merge(_ group: WaitingMerges.Group) {
    if let context { MergePass(context).merge(group) }
  }

  private func _enqueueTurn() {
    async(afterMerges: false) { [self] in
      let group = changeMerges { merges in
        merges.hasTurn = false
        return merges.take(upTo: merges.last)
      }
      if let group { _merge(group) }
      // The next turn follows the work that the queue has received meanwhile.
      let needsTurn = changeMerges { merges in
        if merges.isEmpty || merges.hasTurn { return false }
        merges.hasTurn = true
        return true
      }
      if needsTurn { _enqueueTurn() }
    }
  }

  /// Runs the merges that wait, up to a group's number. Called before a block that was enqueued behind them.
  func runMerges(upTo number: Int) {
    while let group = changeMerges({ $0.take(upTo: number) }) { _merge(group) }
  }
}

extension MergePass {
  /// Merges what has waited for the context's queue.
  consuming func merge(_ group: WaitingMerges.Group) {
    switch group {
    case .save(let changes): merge(changes)
    case .composed(let save): merge(save.changes)
    case .discard(let discard, let parent):
      reread(discard.parts)
      // A block of the parent first accepts this context's earlier deliveries.
      parent.async(afterMerges: false) { withExtendedLifetime(discard) {} }
    }
  }
}
