import Foundation

extension FetchedResultsCore {
  /// Passes a snapshot of the current results to the delegate.
  ///
  /// - Returns: Whether the delegate takes snapshots; if not, no other method has been called.
  @discardableResult
  func sendSnapshot(reloading changed: [FetchedResult] = []) -> Bool {
    guard !isSnapshotMissing, let delegate, let controller = owner?.face else { return false }
    // Built lazily: most delegates take no snapshots.
    let snapshot = NSDiffableDataSourceSnapshotReference { [unowned self] in content(reloading: changed) }
    openSnapshot = snapshot
    delegate.controller(controller, didChangeContentWith: snapshot)
    guard !isSnapshotMissing else { return false }
    snapshot.loadContent()
    noteShownIDs()
    return true
  }

  func content(reloading changed: [FetchedResult]) -> SnapshotContent {
    var content = SnapshotContent()
    sections?.forEach { section in
      content.append(section: section.name, section.items)
    }
    content.reloadedItems = changed.map { $0.object._objectID }
    return content
  }
}
