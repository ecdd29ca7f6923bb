import CoreDataModelSchema

/// Where a packed Row keeps which kind of value: one word for each slot, then the bytes of all texts.
///
/// A Row of Values takes 24 bytes a slot and an allocation for each text that is longer than 15 bytes. Most
/// rows that are read are never written, and few of their texts are looked at; packed, a row is one
/// allocation of half the size, and a text is made when it is asked for. Entities with values of other kinds
/// have Rows of Values.
package final class RowFormat: Sendable {
  package enum Kind: UInt8, Sendable {
    /// Not part of stored rows: a to-many, a transient.
    case absent
    case int
    case double
    /// The word says where the text stands.
    case text
    /// A to-one to an entity without subentities.
    case reference
  }

  /// Where a text stands behind the words, in one of them.
  package struct TextPlace {
    package let offset: Int
    package let count: Int

    @inline(__always) package init(_ word: UInt64) {
      offset = Int(word >> 32)
      count = Int(word & 0xFFFF_FFFF)
    }

    /// The word for a text; nil for one so long that it does not fit.
    @inline(__always) package static func word(offset: Int, count: Int) -> UInt64? {
      guard offset <= 0xFFFF_FFFF, count <= 0xFFFF_FFFF else { return nil }
      return UInt64(offset) << 32 | UInt64(count)
    }
  }

  /// Most slots that a packed Row can have.
  package static let maximumCount = 64

  package let count: Int
  private let _kinds: [Kind]
  private let _spaces: [ObjectIDSpace?]
  package let textSlots: [Int]
  /// A bit for each slot that never has a value.
  package let absentSlots: UInt64

  /// - Parameters:
  ///   - kinds: By slot, at most 64.
  ///   - spaces: By slot, for references.
  package init(_ kinds: [Kind], spaces: [ObjectIDSpace?]) {
    precondition(kinds.count <= Self.maximumCount && spaces.count == kinds.count)
    count = kinds.count
    _kinds = kinds
    _spaces = spaces
    textSlots = kinds.indices.filter { kinds[$0] == .text }
    absentSlots = kinds.enumerated().reduce(0) { $1.element == .absent ? $0 | (1 << UInt64($1.offset)) : $0 }
  }

  @inline(__always) package func kind(_ slot: Int) -> Kind { _kinds.withUnsafeBufferPointer { $0[slot] } }

  /// Space of the objects that a to-one points at.
  @inline(__always) package func space(_ slot: Int) -> ObjectIDSpace { _spaces[slot]! }
}
