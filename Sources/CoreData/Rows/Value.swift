import Foundation

/// One cell of a Row. How it reads depends on the slot's attribute type: an integer attribute, a boolean and
/// a scalar all store `int`; a date stores `double`, seconds since 2001-01-01 00:00 UTC; a URI stores
/// `string`.
///
/// Two words and a tag. Nothing here is mutable once in a Row.
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
  /// A to-one to an object that was not yet saved when the Row was made; its ID may have learned its key
  /// since.
  case pending(NSManagedObjectID)
  /// Changes to a to-many, in Rows that carry unsaved changes only; stored Rows have `null` there.
  case toMany(ToManyDelta)
  /// Values of a composite attribute's elements in declared order.
  case composite(CompositeBox)

  /// Whether it holds anything that is counted.
  @inline(__always) package var isCounted: Bool {
    switch self {
    case .null, .int, .double, .uuid: false
    default: true
    }
  }
}

/// A decimal, boxed so that a Value stays two words and a tag.
package final class DecimalBox: Sendable {
  package let decimal: Decimal
  package init(_ decimal: Decimal) { self.decimal = decimal }
}

/// Element values of a composite attribute.
package final class CompositeBox: Sendable {
  package let values: [Value]
  package init(_ values: [Value]) { self.values = values }
}

/// What happened to a to-many relationship since its owner's base Row: members added and removed, and for an
/// ordered one the whole order afterwards.
package final class ToManyDelta: Sendable {
  package let added: [NSManagedObjectID]
  package let removed: [NSManagedObjectID]
  /// All members in order, for an ordered relationship whose order is known.
  package let order: [NSManagedObjectID]?

  package init(added: [NSManagedObjectID], removed: [NSManagedObjectID], order: [NSManagedObjectID]?) {
    self.added = added
    self.removed = removed
    self.order = order
  }

  /// Several deltas as one, newest first; each is gone through once.
  ///
  /// The last word on a member stands, also where it takes back an earlier one: that may have asked for what
  /// was so already.
  package static func composed(_ deltas: [ToManyDelta]) -> ToManyDelta {
    var added = Set<IdentityKey>()
    var removed = Set<IdentityKey>()
    for delta in deltas {
      for key in delta.added.map(IdentityKey.init) where !removed.contains(key) { added.insert(key) }
      for key in delta.removed.map(IdentityKey.init) where !added.contains(key) { removed.insert(key) }
    }
    func inOrder(_ members: Set<IdentityKey>, _ list: (ToManyDelta) -> [NSManagedObjectID])
      -> [NSManagedObjectID]
    {
      var rest = members
      return deltas.reversed().flatMap(list).filter { rest.remove(IdentityKey($0)) != nil }
    }
    return ToManyDelta(
      added: inOrder(added, \.added), removed: inOrder(removed, \.removed),
      order: deltas.lazy.compactMap(\.order).first)
  }

  /// This delta followed by `later`, whose word stands.
  ///
  /// Members are compared by key: one side may know a member by the temporary ID that it had, the other by its
  /// permanent one.
  package func followed(by later: ToManyDelta) -> ToManyDelta {
    func without(_ members: [NSManagedObjectID], _ others: [NSManagedObjectID]) -> [NSManagedObjectID] {
      if members.isEmpty || others.isEmpty { return members }
      let keys = Set(others.map(IdentityKey.init))
      return members.filter { !keys.contains(IdentityKey($0)) }
    }
    return ToManyDelta(
      added: without(added, later.removed) + without(later.added, added),
      removed: without(removed, later.added) + without(later.removed, removed), order: later.order ?? order)
  }
}

/// The value of a transformable attribute: the object, its encoded bytes, or both.
package final class TransformableBox: @unchecked Sendable {
  // Unchecked: written once at initialisation; the object itself is the user's and, as in Core Data, not
  // copied.
  package let object: Any?
  package let data: Data?

  package init(object: Any?, data: Data?) {
    self.object = object
    self.data = data
  }
}
