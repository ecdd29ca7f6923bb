extension ModelContext {
  /// Transfers the context to an actor: from now on it is used on that actor's queue only.
  func handToActor() {
    autosave.isPossible = false
    managed.tracksObservation = false
  }
}
