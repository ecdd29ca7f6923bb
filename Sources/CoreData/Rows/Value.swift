import Foundation

/// One cell of a Row. Its interpretation depends on the slot's attribute type: an integer attribute, a
/// boolean and a scalar all store `int`; a date stores `double`, seconds since 2001-01-01 00:00 UTC; a URI
/// stores `string`.
///
/// Two words and a tag. Immutable once in a Row.
package enum Value: Sendable {
  case null
  /// Integer 16/32/64 and Boolean (0 or 1).
  case int(Int64)
  /// Double, Float and Date.
  case double(Double)
  /// String and URI.
  case string(String)
  /// Binary.
  case data(Data)
  case uuid(UUID)
  case decimal(DecimalBox)
  /// A transformable attribute's value, with its stored bytes once known.
  case transformable(TransformableBox)
  /// A to-one to a stored object.
  case reference(ObjectKey)
  /// A to-one to an object that was unsaved when the Row was created; its ID may have become permanent since.
  case pending(NSManagedObjectID)
  /// Changes to a to-many, only in Rows that carry unsaved changes; stored Rows have `null` there.
  case toMany(ToManyDelta)
  /// Values of a composite attribute's elements in declared order.
  case composite(CompositeBox)

  /// Whether the value holds a reference.
  @inline(__always) package var isCounted: Bool {
    switch self {
    case .null, .int, .double, .uuid: false
    default: true
    }
  }
}

/// Binary data in a cell of a packed Row.
final class DataBox: Sendable {
  let data: Data
  init(_ data: Data) { self.data = data }
}

/// A boxed decimal, which keeps a Value at two words and a tag.
package final class DecimalBox: Sendable {
  package let decimal: Decimal
  package init(_ decimal: Decimal) { self.decimal = decimal }
}

/// Element values of a composite attribute.
package final class CompositeBox: Sendable {
  package let values: [Value]
  package init(_ values: [Value]) { self.values = values }
}

/// Changes of a to-many relationship since its owner's base Row: members added and removed, and for an
/// ordered one the resulting order.
package final class ToManyDelta: Sendable {
  package let added: [NSManagedObjectID]
  package let removed: [NSManagedObjectID]
  /// All members in order, for an ordered relationship whose order is known.
  package let order: [NSManagedObjectID]?
  /// The number of members at the end of `order` that were added there; those before them are what was read or
  /// last saved, unchanged. 0 if anything else may have changed.
  package let appended: Int

  package init(
    added: [NSManagedObjectID], removed: [NSManagedObjectID], order: [NSManagedObjectID]?, appended: Int = 0
  ) {
    self.added = added
    self.removed = removed
    self.order = order
    self.appended = appended
  }

  /// Composes several deltas, newest first, visiting each once.
  ///
  /// The newest change of a member wins, even if it reverts an earlier one, which may have been redundant.
  package static func composed(_ deltas: [ToManyDelta]) -> ToManyDelta {
    var added = IdentitySet()
    var removed = IdentitySet()
    for delta in deltas {
      for id in delta.added where !removed.contains(id) { added.insert(id) }
      for id in delta.removed where !added.contains(id) { removed.insert(id) }
    }
    func inOrder(_ members: IdentitySet, _ list: (ToManyDelta) -> [NSManagedObjectID]) -> [NSManagedObjectID]
    {
      var rest = members
      return deltas.reversed().flatMap(list).filter { rest.remove($0) }
    }
    return ToManyDelta(
      added: inOrder(added, \.added), removed: inOrder(removed, \.removed),
      order: deltas.lazy.compactMap(\.order).first)
  }

  /// Returns this delta followed by `later`, which wins.
  ///
  /// Members are compared by key: one side may know a member by its former temporary ID, the other by its
  /// permanent one.
  package func followed(by later: ToManyDelta) -> ToManyDelta {
    func without(_ members: [NSManagedObjectID], _ others: [NSManagedObjectID]) -> [NSManagedObjectID] {
      if members.isEmpty || others.isEmpty { return members }
      let known = IdentitySet(others)
      return members.filter { !known.contains($0) }
    }
    return ToManyDelta(
      added: without(added, later.removed) + without(later.added, added),
      removed: without(removed, later.added) + without(later.removed, removed), order: later.order ?? order)
  }
}

/// The value of a transformable attribute: the object, its encoded bytes, or both.
package final class TransformableBox: @unchecked Sendable {
  // Unchecked: written once at initialization. The object belongs to the program and, as in Core Data, is not
  // copied.
  package let object: Any?
  package let data: Data?

  package init(object: Any?, data: Data?) {
    self.object = object
    self.data = data
  }
}
