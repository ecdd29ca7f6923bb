import Foundation
import Synchronization

/// Numbers for the references by which a custom store knows its objects.
///
/// The engine knows objects by whole numbers. A custom store chooses strings, numbers or whatever has a
/// description; equal descriptions within one hierarchy of entities are one object. Kept for as long as the
/// store's identity is, so that IDs which different coordinators make are equal.
final class ObjectReferences: Sendable {
  private struct Name: Hashable {
    let root: Int
    let text: String
  }

  private struct Tables: @unchecked Sendable {
    // Unchecked: references are strings and numbers, which are not changed in place; the lock guards the rest.
    var numbers: [Name: Int64] = [:]
    var references: [(reference: Any, text: String)] = []
  }

  private let _tables = Mutex(Tables())

  /// The number of a reference, the same for the same description.
  ///
  /// - Parameter root: Number of the entity at the root of the object's hierarchy.
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

  /// The number for the last part of a URI's path, not unescaped, as Core Data does not.
  func key(for pathText: String, in space: ObjectIDSpace) -> Int64 {
    key(for: pathText, root: space.layout.rootNumber)
  }

  /// The reference that a number stands for.
  func reference(of key: Int64) -> Any? { _entry(key)?.reference }

  /// The reference as the last part of a URI's path: what a path cannot hold is escaped.
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

/// A reference on its way through a lock.
private struct UncheckedReference: @unchecked Sendable {
  // Unchecked: as in the tables.
  let reference: Any
}
