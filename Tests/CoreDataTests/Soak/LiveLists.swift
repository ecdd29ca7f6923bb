import CoreData
import Foundation

/// A list on a screen: the rows of a fetched results controller as its delegate has been told of them.
protocol LiveList: NSFetchedResultsControllerDelegate {
  /// The rows by section.
  var rows: [[NSManagedObject]] { get }
  /// What the delegate was told that does not fit its rows.
  var contradictions: [String] { get }

  init(_ controller: NSFetchedResultsController<NSManagedObject>)
}

extension NSFetchedResultsController<NSManagedObject> {
  /// The results by section.
  var rows: [[NSManagedObject]] {
    (sections ?? []).map { $0.objects as? [NSManagedObject] ?? [] }
  }
}

/// A list that is told of sections and rows, as by a table's data source.
final class TableList: NSObject, LiveList {
  private(set) var rows: [[NSManagedObject]]
  private(set) var contradictions: [String] = []

  private var _removedSections: [Int] = []
  private var _newSections: [Int] = []
  private var _removed: [(path: IndexPath, object: NSManagedObject)] = []
  private var _inserted: [(path: IndexPath, object: NSManagedObject)] = []

  init(_ controller: NSFetchedResultsController<NSManagedObject>) { rows = controller.rows }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    (_removedSections, _newSections, _removed, _inserted) = ([], [], [], [])
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    if type == .delete { _removedSections.append(sectionIndex) } else { _newSections.append(sectionIndex) }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let object = anObject as! NSManagedObject
    switch type {
    case .insert: _inserted.append((newIndexPath!, object))
    case .delete: _removed.append((indexPath!, object))
    case .move:
      _removed.append((indexPath!, object))
      _inserted.append((newIndexPath!, object))
    case .update:
      if !_has(object, at: indexPath!) {
        contradictions.append("an update of another row than \(indexPath!)")
      }
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    for (path, object) in _removed.sorted(by: { $0.path > $1.path }) {
      guard _has(object, at: path) else {
        contradictions.append("a removal of another row than \(path)")
        continue
      }
      rows[path.section].remove(at: path.item)
    }
    for section in _removedSections.sorted(by: >) {
      guard section < rows.count, rows[section].isEmpty else {
        contradictions.append("section \(section) is removed, which has rows or is not there")
        continue
      }
      rows.remove(at: section)
    }
    for section in _newSections.sorted() {
      guard section <= rows.count else {
        contradictions.append("section \(section) is new, after \(rows.count)")
        continue
      }
      rows.insert([], at: section)
    }
    for (path, object) in _inserted.sorted(by: { $0.path < $1.path }) {
      guard path.section < rows.count, path.item <= rows[path.section].count else {
        contradictions.append("a row is new at \(path), which is not there")
        continue
      }
      rows[path.section].insert(object, at: path.item)
    }
  }

  private func _has(_ object: NSManagedObject, at path: IndexPath) -> Bool {
    path.section < rows.count && path.item < rows[path.section].count
      && rows[path.section][path.item] === object
  }
}

/// A list that is told of differences between lists of IDs.
final class DifferenceList: NSObject, LiveList {
  private var _ids: [NSManagedObjectID]
  private let _context: NSManagedObjectContext
  private(set) var contradictions: [String] = []

  init(_ controller: NSFetchedResultsController<NSManagedObject>) {
    _ids = controller.fetchedObjects!.map(\.objectID)
    _context = controller.managedObjectContext
  }

  var rows: [[NSManagedObject]] { [_ids.compactMap { _context.registeredObject(for: $0) }] }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    guard let changed = _ids.applying(diff) else {
      return contradictions.append("a difference from other rows")
    }
    _ids = changed
  }
}

/// A list that is given snapshots.
final class SnapshotList: NSObject, LiveList {
  private var _ids: [[NSManagedObjectID]]
  private let _context: NSManagedObjectContext
  let contradictions: [String] = []

  init(_ controller: NSFetchedResultsController<NSManagedObject>) {
    _ids = controller.rows.map { $0.map(\.objectID) }
    _context = controller.managedObjectContext
  }

  var rows: [[NSManagedObject]] {
    _ids.map { $0.compactMap { _context.registeredObject(for: $0) } }
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    _ids = snapshot.sectionIdentifiers.map { section in
      snapshot.itemIdentifiersInSection(withIdentifier: section).map { $0 as! NSManagedObjectID }
    }
  }
}
