/// The hashes that match a store with a model: equal to those that Core Data writes (its version 3).
///
/// They cover the shape of tables, but not default values, limits, classes, indexes or user info.
package enum VersionHash {
  /// How an entity is hashed.
  package enum Rule: Sendable {
    /// As Core Data does.
    case coreData
    /// As this package did up to version 0.2, for stores that it wrote: differs for relationships that are
    /// their own inverse, whose inverse's name was hashed, and for entities with both a modifier and
    /// uniqueness constraints, which came first.
    case former
  }

  /// Hash of an attribute: 32 bytes.
  package static func of(_ attribute: AttributeSchema) -> [UInt8] {
    var message: [UInt8] = []
    _hash(attribute, in: &message)
    return message
  }

  /// Hash of a relationship that an entity of this name declares: 32 bytes.
  package static func of(_ relationship: RelationshipSchema, declaredBy entity: String) -> [UInt8] {
    var message: [UInt8] = []
    _hash(relationship, declaredBy: entity, .coreData, in: &message)
    return message
  }

  /// Hash of a property without a type: the hash of a fetched property.
  package static func of(_ traits: PropertyTraits) -> [UInt8] {
    var message: [UInt8] = []
    _hash(traits, in: &message)
    return message
  }

  // A model has thousands of properties: their messages and hashes share one array, which is reused for all of them.

  private static func _hash(_ attribute: AttributeSchema, in message: inout [UInt8]) {
    if let derivation = attribute.derivationExpression {
      message.removeAll(keepingCapacity: true)
      message += DerivationText.canonical(derivation).utf8
    } else if attribute.type == .composite {
      let elements = attribute.elements.sorted { _precedes($0.name, $1.name) }
      message = elements.flatMap { of($0) }
    } else {
      _hash(attribute.traits, in: &message)
      _append(Int32(attribute.type.rawValue), to: &message)
      if attribute.preservesValueInHistoryOnDeletion { message.append(1) }
      if attribute.allowsExternalBinaryDataStorage { message.append(1) }
    }
    SHA256.replace(&message)
  }

  private static func _hash(
    _ relationship: RelationshipSchema, declaredBy entity: String, _ rule: Rule, in message: inout [UInt8]
  ) {
    _hash(relationship.traits, in: &message)
    message += relationship.destination.utf8
    if rule == .former || !relationship.isOwnInverse(in: entity) {
      message += (relationship.inverse ?? "").utf8
    }
    _append(Int32(truncatingIfNeeded: relationship.maxCount), to: &message)
    _append(Int32(truncatingIfNeeded: relationship.minCount), to: &message)
    if relationship.isOrdered { message += [1, 0] }
    SHA256.replace(&message)
  }

  private static func _hash(_ traits: PropertyTraits, in message: inout [UInt8]) {
    message.removeAll(keepingCapacity: true)
    message += traits.name.utf8
    message.append((traits.isOptional ? 1 : 0) | (traits.isTransient ? 2 : 0))
    message.append(0)
    if let modifier = traits.versionHashModifier { message += modifier.utf8 }
    SHA256.replace(&message)
  }

  /// Hash of the last entity in a line of parents, topmost first: 32 bytes.
  package static func of(line: [EntitySchema]) -> [UInt8] {
    line.reduce(Lineage(.coreData)) { $0.adding($1) }.hash
  }

  /// The part of an entity's hash that depends on its ancestors.
  struct Lineage {
    private let _rule: Rule
    /// Hash of the last entity; empty before the first.
    private(set) var hash: [UInt8] = []
    private var _names: [String] = []
    /// Hashes of the properties, 32 bytes each, in the order of the names.
    private var _hashes: [UInt8] = []

    init(_ rule: Rule) { _rule = rule }

    /// The same line with one more entity below.
    func adding(_ entity: EntitySchema) -> Lineage {
      var next = self
      var message: [UInt8] = []
      for attribute in entity.attributes where !attribute.isTransient {
        _hash(attribute, in: &message)
        next._add(attribute.name, message)
      }
      for relationship in entity.relationships where !relationship.traits.isTransient {
        _hash(relationship, declaredBy: entity.name, _rule, in: &message)
        next._add(relationship.name, message)
      }
      message.removeAll(keepingCapacity: true)
      message += entity.name.utf8
      message.append(entity.isAbstract ? 1 : 0)
      message += hash
      let names = next._names
      for index in names.indices.sorted(by: { _precedes(names[$0], names[$1]) }) {
        message += next._hashes[32 * index..<32 * (index + 1)]
      }
      let modifier = entity.versionHashModifier ?? ""
      if _rule == .coreData { message += modifier.utf8 }
      let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      for constraint in constraints.sorted(by: _precedes) { message += constraint.utf8 }
      if _rule == .former { message += modifier.utf8 }
      SHA256.replace(&message)
      next.hash = message
      return next
    }

    private mutating func _add(_ name: String, _ hash: [UInt8]) {
      _names.append(name)
      _hashes += hash
    }
  }

  /// Digest over the hashes of a model, by entity name: 64 bytes.
  package static func digest(_ hashes: [String: [UInt8]]) -> [UInt8] {
    SHA512.hash(_sorted(hashes).flatMap { Array($0.key.utf8) + $0.value })
  }

  /// Checksum over the hashes of a model, by entity name: 32 bytes.
  package static func checksum(_ hashes: [String: [UInt8]]) -> [UInt8] {
    SHA256.hash(_sorted(hashes).flatMap(\.value))
  }

  private static func _sorted(_ hashes: [String: [UInt8]]) -> [(key: String, value: [UInt8])] {
    hashes.sorted { _precedes($0.key, $1.key) }
  }

  /// Order by UTF-16 code units, as NSString compares.
  private static func _precedes(_ left: String, _ right: String) -> Bool {
    var (first, second) = (left, right)
    let verdict = first.withUTF8 { a in
      second.withUTF8 { b -> Bool? in
        let count = min(a.count, b.count)
        var index = 0
        while index < count, a[index] == b[index] { index += 1 }
        guard index < count else { return a.count < b.count }
        // UTF-16 units and UTF-8 bytes have the same order for scalars below U+E000, whose bytes begin with
        // less than 0xEE.
        return a[index] < 0xee && b[index] < 0xee ? a[index] < b[index] : nil
      }
    }
    return verdict ?? left.utf16.lexicographicallyPrecedes(right.utf16)
  }

  private static func _append(_ number: Int32, to message: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { message += $0 }
  }
}

extension ModelSchema {
  /// Version hashes of all entities by name, 32 bytes each. An entity whose line of parents is broken or
  /// cyclic is hashed as if the line ended there; laying out such a model throws anyway.
  package func entityVersionHashes(_ rule: VersionHash.Rule = .coreData) -> [String: [UInt8]] {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var hashes: [String: [UInt8]] = [:]
    var known: [String: VersionHash.Lineage] = [:]
    for entity in entities {
      var line = [entity]
      var seen: Set<String> = [entity.name]
      while let name = line[line.count - 1].parent, let parent = byName[name], seen.insert(name).inserted {
        line.append(parent)
      }
      // In a cycle there is no root from which all of its entities would get the same hash.
      let isWhole = line[line.count - 1].parent.map { byName[$0] == nil } ?? true
      var lineage = VersionHash.Lineage(rule)
      if isWhole, let found = line.firstIndex(where: { known[$0.name] != nil }) {
        lineage = known[line[found].name]!
        line.removeSubrange(found...)
      }
      for ancestor in line.reversed() {
        lineage = lineage.adding(ancestor)
        if isWhole { known[ancestor.name] = lineage }
      }
      hashes[entity.name] = lineage.hash
    }
    return hashes
  }

  /// The hashes by the former rule of the entities for which the two rules differ, by name; mostly none.
  package func formerEntityVersionHashes() -> [String: [UInt8]] {
    let differs = entities.contains { entity in
      entity.relationships.contains { $0.isOwnInverse(in: entity.name) }
        || entity.versionHashModifier != nil && !entity.uniquenessConstraints.isEmpty
    }
    guard differs else { return [:] }
    let present = entityVersionHashes()
    return entityVersionHashes(.former).filter { present[$0.key] != $0.value }
  }
}
