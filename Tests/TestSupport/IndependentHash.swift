import CoreDataModelSchema

/// Version hashes computed a second time, from the description of the format alone and with no code in common
/// with `VersionHash`, so that no change there moves a hash unseen.
///
/// H is SHA-256 over UTF-8 text and little-endian integers. A property's base is H(name, optional 1 + transient
/// 2 as 16 bits, modifier); an attribute H(base, type, 01 if preserved, 01 if external); a derived attribute
/// H(expression); a composite H(elements by name); a relationship H(base, destination, inverse or nothing if
/// it is this relationship itself, maximum, minimum, 01 00 if ordered); an entity H(name, abstract, parent's
/// hash, all stored properties by name, modifier, constraints joined by "." and sorted).
package enum IndependentHash {
  /// The hashes of a model's entities by name.
  package static func hashes(of model: ModelSchema) -> [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, _entity($0, model)) })
  }

  private static func _entity(_ entity: EntitySchema, _ model: ModelSchema) -> [UInt8] {
    var text = Array(entity.name.utf8) + [entity.isAbstract ? 1 : 0]
    var properties: [(name: String, hash: [UInt8])] = []
    var next: EntitySchema? = entity
    while let declarer = next {
      for attribute in declarer.attributes where !attribute.traits.isTransient {
        properties.append((attribute.traits.name, _attribute(attribute)))
      }
      for relationship in declarer.relationships where !relationship.traits.isTransient {
        properties.append((relationship.traits.name, _relationship(relationship, of: declarer.name)))
      }
      next = model.entities.first { $0.name == declarer.parent }
      if declarer.name == entity.name, let next { text += _entity(next, model) }
    }
    for property in properties.sorted(by: { _isBefore($0.name, $1.name) }) { text += property.hash }
    text += Array((entity.versionHashModifier ?? "").utf8)
    let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
    for constraint in constraints.sorted(by: _isBefore) { text += Array(constraint.utf8) }
    return sha256(text)
  }

  private static func _base(_ traits: PropertyTraits) -> [UInt8] {
    let flags: UInt8 = (traits.isOptional ? 1 : 0) + (traits.isTransient ? 2 : 0)
    return sha256(Array(traits.name.utf8) + [flags, 0] + Array((traits.versionHashModifier ?? "").utf8))
  }

  private static func _attribute(_ attribute: AttributeSchema) -> [UInt8] {
    if let expression = attribute.derivationExpression { return sha256(Array(_function(expression).utf8)) }
    if attribute.type == .composite {
      let elements = attribute.elements.sorted { _isBefore($0.traits.name, $1.traits.name) }
      return sha256(elements.flatMap { _attribute($0) })
    }
    return sha256(
      _base(attribute.traits) + _int32(Int(attribute.type.rawValue))
        + (attribute.preservesValueInHistoryOnDeletion ? [1] : [])
        + (attribute.allowsExternalBinaryDataStorage ? [1] : []))
  }

  /// `a.b.@f` and `f(a)` are `f:(a)`; `now()` and a key path stay.
  private static func _function(_ expression: String) -> String {
    let text = String(expression.filter { !" \t\n".contains($0) })
    if let parts = text.wholeMatch(of: #/(.+)\.@([a-zA-Z]+)/#) { return "\(parts.2):(\(parts.1))" }
    if let parts = text.wholeMatch(of: #/([a-zA-Z]+):?\((.+)\)/#) { return "\(parts.1):(\(parts.2))" }
    return text
  }

  private static func _relationship(_ relationship: RelationshipSchema, of declarer: String) -> [UInt8] {
    let isItself = relationship.destination == declarer && relationship.inverse == relationship.traits.name
    return sha256(
      _base(relationship.traits) + Array(relationship.destination.utf8)
        + Array((isItself ? "" : relationship.inverse ?? "").utf8)
        + _int32(relationship.maxCount) + _int32(relationship.minCount)
        + (relationship.isOrdered ? [1, 0] : []))
  }

  private static func _int32(_ number: Int) -> [UInt8] {
    let bits = UInt32(bitPattern: Int32(truncatingIfNeeded: number))
    return [0, 8, 16, 24].map { UInt8((bits >> $0) & 0xff) }
  }

  private static func _isBefore(_ left: String, _ right: String) -> Bool {
    Array(left.utf16).lexicographicallyPrecedes(Array(right.utf16))
  }

  /// SHA-256, as in FIPS 180-4: its constants are the fractions of roots of the first primes.
  package static func sha256(_ message: [UInt8]) -> [UInt8] {
    var data = message + [0x80]
    while data.count % 64 != 56 { data.append(0) }
    let length = UInt64(message.count) * 8
    data += (0..<8).map { UInt8((length >> (56 - 8 * UInt64($0))) & 0xff) }
    var state = _primes.prefix(8).map { _fraction(of: Double($0).squareRoot()) }
    for start in stride(from: 0, to: data.count, by: 64) {
      var w = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(data[start + 4 * word + $1]) }
      }
      for i in 16..<64 {
        let low = _turn(w[i - 15], 7) ^ _turn(w[i - 15], 18) ^ (w[i - 15] >> 3)
        let high = _turn(w[i - 2], 17) ^ _turn(w[i - 2], 19) ^ (w[i - 2] >> 10)
        w.append(w[i - 16] &+ low &+ w[i - 7] &+ high)
      }
      var v = state
      for i in 0..<64 {
        let e = _turn(v[4], 6) ^ _turn(v[4], 11) ^ _turn(v[4], 25)
        let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
        let first = v[7] &+ e &+ choice &+ _cubes[i] &+ w[i]
        let a = _turn(v[0], 2) ^ _turn(v[0], 13) ^ _turn(v[0], 22)
        let second = a &+ ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]))
        v = [first &+ second, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
      }
      for i in 0..<8 { state[i] = state[i] &+ v[i] }
    }
    return state.flatMap { word in [24, 16, 8, 0].map { UInt8((word >> $0) & 0xff) } }
  }

  private static func _turn(_ word: UInt32, _ bits: UInt32) -> UInt32 {
    word >> bits | word << (32 - bits)
  }

  private static let _primes: [Int] = {
    var found: [Int] = []
    var number = 2
    while found.count < 64 {
      if found.allSatisfy({ number % $0 != 0 }) { found.append(number) }
      number += 1
    }
    return found
  }()

  private static func _fraction(of root: Double) -> UInt32 {
    UInt32((root - root.rounded(.down)) * 4_294_967_296)
  }

  /// The first 32 bits after the point of the cube roots of the primes: the greatest x with
  /// x * x * x <= prime * 2^96, whose low bits they are. Doubles are exact enough for a first guess only.
  private static let _cubes: [UInt32] = _primes.map { prime in
    let cube = _Cube(prime)
    var (low, high) = (UInt64(1) << 32, UInt64(7) << 32)
    while high - low > 1 {
      let middle = (low + high) / 2
      if cube.isAtLeastCube(of: middle) { low = middle } else { high = middle }
    }
    return UInt32(truncatingIfNeeded: low)
  }

  /// A prime times 2^96, to compare with cubes of 35-bit numbers.
  private struct _Cube {
    private let _high: UInt64

    /// In units of 2^96.
    init(_ prime: Int) { _high = UInt64(prime) }

    func isAtLeastCube(of x: UInt64) -> Bool {
      // x * x has 70 bits, its product with x 105: the square in two parts.
      let square = x.multipliedFullWidth(by: x)
      let low = square.low.multipliedFullWidth(by: x)
      let upper = square.high * x + low.high
      // The cube is upper * 2^64 + low.low; the prime is _high * 2^32 in units of 2^64.
      return upper < _high << 32 || (upper == _high << 32 && low.low == 0)
    }
  }
}
