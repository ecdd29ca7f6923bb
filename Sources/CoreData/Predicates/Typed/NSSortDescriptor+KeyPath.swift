import CoreDataPredicateLanguage
import Foundation

extension ClassCluster where Self: NSSortDescriptor {
  /// Creates a sort descriptor for a key path to a property that may be nil; nil comes first.
  ///
  /// Foundation on this platform supports only values that are Comparable, which an optional is not. Traps
  /// for a key path that matches no property of a model in use.
  ///
  /// ```swift
  /// request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
  /// ```
  public init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    do {
      let key = try KeyRecorder.path(of: keyPath).joined(separator: ".")
      self = Self.answer(KeyedSortDescriptor(key, ascending: ascending), "A sort descriptor by key path")
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }
}

extension NSSortDescriptor {
  /// Returns the sort term for a store: key path, direction and comparison.
  /// - Throws: `SortTermError` if the descriptor has no key or compares by a closure.
  func sortTerm() throws -> FetchPlan.SortTerm {
    guard let keyed = self as? KeyedSortDescriptor else {
      // Created by Foundation from a Swift key path.
      if type(of: keyPath).rootType is NSManagedObject.Type {
        guard NaturalOrder.isThat(of: self) else { throw SortTermError.closure("\(keyPath)") }
        return FetchPlan.SortTerm(
          keyPath: try KeyRecorder.path(of: keyPath), ascending: ascending, comparison: .binary)
      }
      throw SortTermError.noKey(description)
    }
    guard keyed.custom == nil else { throw SortTermError.closure(keyed.keyPathText ?? "self") }
    guard let text = keyed.keyPathText, let path = KeyPathText.components(text) else {
      throw SortTermError.noKey(keyed.keyPathText ?? "nil")
    }
    return FetchPlan.SortTerm(keyPath: path, ascending: ascending, comparison: keyed.comparison)
  }
}
