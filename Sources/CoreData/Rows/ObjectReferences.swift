import Foundation
import Synchronization

/// Numbers for the reference objects by which a custom store identifies its objects.
///
/// The engine identifies objects by integers. A custom store chooses strings, numbers or any other value with
/// a description; within one entity hierarchy, equal descriptions identify the same object. Lives as long as
/// the store's key, so that different coordinators create equal IDs.
final class ObjectReferences: Sendable {
  private struct Name: Hashable {
    let root: Int
    let text: String
  }

  private struct Tables: @unchecked Sendable {
    // Unchecked: references are strings and numbers, which are not mutated in place; the lock guards the
    // rest.
    var numbers: [Name: Int64] = [:]
    var references: [(reference: Any, text: String)] = []
  }

  private let _tables = Mutex(Tables())

  /// Returns the number of a reference; equal descriptions have equal numbers.
  ///
  /// - Parameter root: Number of the root entity of the object's hierarchy.
  func key(for reference: Any, root: Int) -> Int64 {
    let name = Name(root: root, text: Self._text(reference))
    let box = UncheckedReference(reference: reference)
    return _tables.withLock { tables in
      if let known = tables.numbers[name] { return known }
      tables.references.append((box.reference, name.text))
      let number = Int64(tables.references.count)
      tables.numbers[name] = number
      return number
    }
  }

  /// Returns the number for the last path component of a URI, without unescaping it, as in Core Data.
  func key(for pathText: String, in space: ObjectIDSpace) -> Int64 {
    key(for: pathText, root: space.layout.rootNumber)
  }

  /// Returns the reference with a given number.
  func reference(of key: Int64) -> Any? { _entry(key)?.reference }

  /// Returns the reference as the last path component of a URI, escaped as needed.
  func pathText(of key: Int64) -> String? {
    _entry(key)?.text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
  }

  private func _entry(_ key: Int64) -> (reference: Any, text: String)? {
    let found = _tables.withLock { tables -> UncheckedReference? in
      guard key > 0, key <= tables.references.count else { return nil }
      return UncheckedReference(reference: tables.references[Int(key) - 1])
    }
    return found?.reference as? (reference: Any, text: String)
  }

  private static func _text(_ reference: Any) -> String {
    (reference as? String) ?? (reference as? NSString)?.description ?? String(describing: reference)
  }
}

/// Carries a reference through a lock.
private struct UncheckedReference: @unchecked Sendable {
  // Unchecked: as in the tables.
  let reference: Any
}
