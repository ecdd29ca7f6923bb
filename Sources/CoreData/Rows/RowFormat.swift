import CoreDataModelSchema

/// The layout of a packed Row: one word per slot, followed by the bytes of all texts.
///
/// A Row of Values takes 24 bytes per slot, plus an allocation for each text longer than 15 bytes. Most rows
/// read are never written, and few of their texts are accessed; a packed row is one allocation of half the
/// size and creates a String only on access. Entities with values of other kinds use Rows of Values.
package final class RowFormat: Sendable {
  package enum Kind: UInt8, Sendable {
    /// Not in stored rows: a to-many or transient property.
    case absent
    case int
    case double
    /// The word holds the location of the text.
    case text
    /// A to-one to an entity without subentities.
    case reference
  }

  /// The location of a text after the words, encoded in one word.
  package struct TextPlace {
    package let offset: Int
    package let count: Int

    @inline(__always) package init(_ word: UInt64) {
      offset = Int(word >> 32)
      count = Int(word & 0xFFFF_FFFF)
    }

    /// Encodes a text's location; nil if the text is too long.
    @inline(__always) package static func word(offset: Int, count: Int) -> UInt64? {
      guard offset <= 0xFFFF_FFFF, count <= 0xFFFF_FFFF else { return nil }
      return UInt64(offset) << 32 | UInt64(count)
    }
  }

  /// Maximum number of slots in a packed Row.
  package static let maximumCount = 64

  package let count: Int
  private let _kinds: [Kind]
  private let _spaces: [ObjectIDSpace?]
  package let textSlots: [Int]
  /// Bit mask of the slots that never have a value.
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

  /// The ID space of a to-one's destination.
  @inline(__always) package func space(_ slot: Int) -> ObjectIDSpace { _spaces[slot]! }
}
