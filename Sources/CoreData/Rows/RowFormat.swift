import CoreDataModelSchema
import Synchronization

/// The layout of a packed Row: one word per slot, followed by the bytes of all texts, UUIDs and decimals.
///
/// A Row of Values takes 24 bytes per slot and a reference to each text longer than 15 bytes. A packed row is
/// one allocation of half the size: a String or a decimal's box is created only on access, and a text is bound
/// to a statement in place. Only data, transformables and composites are objects of their own, which the
/// row retains. Entities of more than 62 slots use Rows of Values.
package final class RowFormat: Sendable {
  package enum Kind: UInt8, Sendable {
    /// Not in stored rows: a to-many or transient property.
    case absent
    case int
    case double
    /// The word holds the location of the text.
    case text
    /// The word holds the location of 16 bytes.
    case uuid
    /// The word holds the location of a `Decimal`.
    case decimal
    /// The word holds the address of a retained `DataBox`.
    case data
    /// The word holds the address of a retained `TransformableBox`.
    case transformable
    /// The word holds the address of a retained `CompositeBox`.
    case composite
    /// A to-one to an entity without subentities. Null with a word other than zero: the word is the address of
    /// the retained ID of an unsaved target.
    case reference
    /// A to-one to an entity with subentities: an `EntityReference`, otherwise like `reference`.
    case entityReference

    /// Whether the word may hold the address of a retained object.
    @inline(__always) var mayRetain: Bool {
      switch self {
      case .data, .transformable, .composite, .reference, .entityReference: true
      case .absent, .int, .double, .text, .uuid, .decimal: false
      }
    }
  }

  /// The target of a to-one in one word: its entity's number and its key.
  package struct EntityReference {
    package let entity: Int
    package let reference: Int64
    private static var _keyBits: UInt64 { 48 }

    @inline(__always) package init(_ word: UInt64) {
      entity = Int(word >> Self._keyBits)
      reference = Int64(word & (1 << Self._keyBits - 1))
    }

    /// Encodes a target; nil if a number is too large or negative.
    @inline(__always) package static func word(entity: Int, reference: Int64) -> UInt64? {
      guard entity > 0, entity < 1 << 16, reference >= 0, reference < 1 << Int64(_keyBits) else { return nil }
      return UInt64(entity) << _keyBits | UInt64(reference)
    }
  }

  /// The location of a text after the words, encoded in one word.
  package struct TextPlace {
    package let offset: Int
    package let count: Int

    /// Largest offset and count.
    @inlinable package static var maximum: Int { 0xFFFF_FFFF }

    @inline(__always) package init(_ word: UInt64) {
      offset = Int(word >> 32)
      count = Int(word & 0xFFFF_FFFF)
    }

    /// Encodes a text's location; nil if the text is too long.
    @inlinable @inline(__always) package static func word(offset: Int, count: Int) -> UInt64? {
      guard offset <= maximum, count <= maximum else { return nil }
      return UInt64(offset) << 32 | UInt64(count)
    }
  }

  // MARK: Marks

  /// Maximum number of slots in a packed Row.
  package static let maximumCount = 62
  /// Mark of a Row that a context made, as opposed to one that a store read.
  static var isMadeHere: UInt64 { 1 << 63 }
  /// Mark of a Row that may refer to unsaved objects.
  static var mayBePending: UInt64 { 1 << 62 }
  /// The bit of a slot in the mask of nulls.
  @inline(__always) package static func bit(_ slot: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: slot) }

  package let count: Int
  private let _kinds: [Kind]
  private let _spaces: [ObjectIDSpace?]
  private let _entitySpaces: [ObjectIDSpace]
  /// Slots of cells whose bytes follow the words.
  private let _textSlots: UInt64
  private let _referenceSlots: UInt64
  /// Slots of cells that are objects.
  private let _objectSlots: UInt64
  /// Bit mask of the slots that never have a value.
  package let absentSlots: UInt64
  /// Room for texts in a new draft, in bytes: what earlier drafts needed.
  private let _textRoom = Atomic<Int>(0)

  /// - Parameters:
  ///   - kinds: By slot, at most `maximumCount`.
  ///   - spaces: By slot, for references.
  ///   - entitySpaces: By entity number - 1, for references to an entity with subentities.
  package init(_ kinds: [Kind], spaces: [ObjectIDSpace?], entitySpaces: [ObjectIDSpace]) {
    precondition(kinds.count <= Self.maximumCount && spaces.count == kinds.count)
    func mask(_ wanted: Kind...) -> UInt64 {
      kinds.indices.reduce(0) { wanted.contains(kinds[$1]) ? $0 | Self.bit($1) : $0 }
    }
    count = kinds.count
    _kinds = kinds
    _spaces = spaces
    _entitySpaces = entitySpaces
    _textSlots = mask(.text, .uuid, .decimal)
    _referenceSlots = mask(.reference, .entityReference)
    _objectSlots = mask(.data, .transformable, .composite)
    absentSlots = mask(.absent)
  }

  @inline(__always) package func kind(_ slot: Int) -> Kind { _kinds.withUnsafeBufferPointer { $0[slot] } }

  /// The ID space of a to-one's destination.
  @inline(__always) package func space(_ slot: Int) -> ObjectIDSpace { _spaces[slot]! }

  /// The ID space of the target of a to-one to an entity with subentities.
  @inline(__always) func space(of target: EntityReference) -> ObjectIDSpace {
    _entitySpaces[target.entity - 1]
  }

  /// The word for a target of a to-one to an entity with subentities; nil if it has none, or belongs to another
  /// store.
  func word(for target: ObjectKey) -> UInt64? {
    let entity = target.space.layout.entityNumber
    guard entity <= _entitySpaces.count, _entitySpaces[entity - 1] === target.space else { return nil }
    return EntityReference.word(entity: entity, reference: target.reference)
  }

  /// Bit mask of all slots.
  var allSlots: UInt64 { Self.bit(count) - 1 }

  // MARK: Slots of a Row

  /// Iterates the slots of texts that are not null.
  @inline(__always) func forEachText(_ nulls: UInt64, _ body: (Int) -> Void) {
    _forEach(_textSlots & ~nulls, body)
  }

  @inline(__always) private func _forEach(_ slots: UInt64, _ body: (Int) -> Void) {
    var rest = slots
    while rest != 0 {
      body(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
  }

  /// The address of the ID of a null reference's unsaved target; nil if it has none or the slot is not a
  /// reference.
  @inline(__always) func pending(_ slot: Int, _ word: UInt64) -> UnsafeRawPointer? {
    _referenceSlots & Self.bit(slot) == 0 ? nil : UnsafeRawPointer(bitPattern: UInt(word))
  }

  /// Iterates the references to unsaved objects, with the addresses of their IDs.
  func forEachPending(
    _ words: UnsafeMutablePointer<UInt64>, _ nulls: UInt64, _ body: (Int, UnsafeRawPointer) -> Void
  ) {
    _forEach(_referenceSlots & nulls) { slot in
      if let id = pending(slot, words[slot]) { body(slot, id) }
    }
  }

  /// Whether any cell may be an object.
  @inline(__always) var hasObjects: Bool { _objectSlots != 0 }

  /// Whether the cell of a slot is an object.
  @inline(__always) func isObject(_ slot: Int) -> Bool { _objectSlots & Self.bit(slot) != 0 }

  /// Iterates the cells that are objects.
  func forEachObject(
    _ words: UnsafeMutablePointer<UInt64>, _ nulls: UInt64, _ body: (Unmanaged<AnyObject>) -> Void
  ) {
    _forEach(_objectSlots & ~nulls) { slot in
      if let object = UnsafeRawPointer(bitPattern: UInt(words[slot])) { body(Unmanaged.fromOpaque(object)) }
    }
  }

  /// The end of the last text.
  @inline(__always)
  func textEnd(_ words: UnsafeMutablePointer<UInt64>, _ nulls: UInt64) -> Int {
    var end = 0
    forEachText(nulls) { slot in
      let place = TextPlace(words[slot])
      end = max(end, place.offset + place.count)
    }
    return end
  }

  /// Bit mask of the slots whose cells differ in two Rows by their words, or by the bytes that these locate.
  func differences(
    _ words: UnsafeMutablePointer<UInt64>, _ nulls: UInt64, _ others: UnsafeMutablePointer<UInt64>,
    _ otherNulls: UInt64
  ) -> UInt64 {
    var result = (nulls ^ otherNulls) & allSlots
    for slot in 0..<count where words[slot] != others[slot] { result |= Self.bit(slot) }
    // The location of a text may differ where the text does not, and the reverse.
    let texts = _textSlots & ~(nulls | otherNulls)
    result &= ~texts
    _forEach(texts) { slot in
      if !Row.text(words[slot], words + count).hasSameBytes(as: Row.text(others[slot], others + count)) {
        result |= Self.bit(slot)
      }
    }
    return result
  }

  /// The number of bytes of the texts.
  func textCount(_ words: UnsafeMutablePointer<UInt64>, _ nulls: UInt64) -> Int {
    var count = 0
    forEachText(nulls) { count += TextPlace(words[$0]).count }
    return count
  }

  // MARK: Room for texts

  /// Room for texts in a new draft, in bytes.
  @inline(__always) var textRoom: Int { _textRoom.load(ordering: .relaxed) }

  /// Maximum number of bytes that new drafts reserve for texts; longer texts get their room when they are
  /// set.
  private static var _mostTextRoom: Int { 256 }

  /// Raises the room of later drafts to what one draft has needed.
  func expectText(_ count: Int) {
    let room = min(count, Self._mostTextRoom)
    if room > textRoom { _textRoom.store(room, ordering: .relaxed) }
  }

  /// Lowers the room of later drafts step by step if a finished one needed little.
  func reportText(of row: Row) {
    let room = textRoom
    let used = textEnd(row.words, row.header.count)
    if used < room / 2 { _textRoom.store(room - (room - used + 15) / 16, ordering: .relaxed) }
  }
}
