import CoreDataPredicateLanguage
import Foundation

extension Value: Equatable {
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The stored object that a to-one refers to; nil for null and for an object without a key yet.
  package var key: ObjectKey? {
    switch self {
    case .reference(let key): key
    case .pending(let id): id.key
    default: nil
    }
  }

  package static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.int(let l), .int(let r)): l == r
    case (.double(let l), .double(let r)): l == r
    // By bytes: Swift considers canonically equivalent texts equal, which would lose a change of one into the
    // other.
    case (.string(let l), .string(let r)): StringComparison.equal(l, r)
    case (.data(let l), .data(let r)): l == r
    case (.uuid(let l), .uuid(let r)): l == r
    case (.decimal(let l), .decimal(let r)): l.decimal == r.decimal
    case (.composite(let l), .composite(let r)): l.values == r.values
    case (.transformable(let l), .transformable(let r)): l.isEqual(to: r)
    case (.pending(let l), .pending(let r)): l.isEqual(r)
    case (.reference, .reference), (.reference, .pending), (.pending, .reference):
      if let l = left.key, let r = right.key { l == r } else { false }
    case (.toMany(let l), .toMany(let r)): l === r
    default: false
    }
  }
}

extension TransformableBox {
  /// Whether the bytes are equal, or the objects if both have them.
  package func isEqual(to other: TransformableBox) -> Bool {
    if self === other { return true }
    if let data, let theirs = other.data { return data == theirs }
    if let mine = object as? AnyHashable, let theirs = other.object as? AnyHashable { return mine == theirs }
    return false
  }
}
