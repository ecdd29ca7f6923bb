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
    var message = HashMessage()
    _hash(attribute, in: &message)
    return message.digest.bytes
  }

  /// Hash of a relationship that an entity of this name declares: 32 bytes.
  package static func of(_ relationship: RelationshipSchema, declaredBy entity: String) -> [UInt8] {
    var message = HashMessage()
    _hash(relationship, declaredBy: entity, .coreData, in: &message)
    return message.digest.bytes
  }

  /// Hash of a property without a type: the hash of a fetched property.
  package static func of(_ traits: PropertyTraits) -> [UInt8] {
    var message = HashMessage()
    _hash(traits, in: &message)
    return message.digest.bytes
  }

  private static func _hash(_ attribute: AttributeSchema, in message: inout HashMessage) {
    if let derivation = attribute.derivationExpression {
      message.removeAll()
      message.append(DerivationText.canonical(derivation))
    } else if attribute.type == .composite {
      let elements = attribute.elements.sorted { _precedes($0.name, $1.name) }.map { element in
        _hash(element, in: &message)
        return message.digest
      }
      message.removeAll()
      for element in elements { message.append(element) }
    } else {
      _hash(attribute.traits, in: &message)
      message.append(Int32(attribute.type.rawValue))
      if attribute.preservesValueInHistoryOnDeletion { message.append(1 as UInt8) }
      if attribute.allowsExternalBinaryDataStorage { message.append(1 as UInt8) }
    }
    message.hash()
  }

  private static func _hash(
    _ relationship: RelationshipSchema, declaredBy entity: String, _ rule: Rule, in message: inout HashMessage
  ) {
    _hash(relationship.traits, in: &message)
    message.append(relationship.destination)
    if rule == .former || !relationship.isOwnInverse(in: entity) {
      message.append(relationship.inverse ?? "")
    }
    message.append(Int32(truncatingIfNeeded: relationship.maxCount))
    message.append(Int32(truncatingIfNeeded: relationship.minCount))
    if relationship.isOrdered {
      message.append(1 as UInt8)
      message.append(0 as UInt8)
    }
    message.hash()
  }

  private static func _hash(_ traits: PropertyTraits, in message: inout HashMessage) {
    message.removeAll()
    message.append(traits.name)
    message.append((traits.isOptional ? 1 : 0) as UInt8 | (traits.isTransient ? 2 : 0))
    message.append(0 as UInt8)
    if let modifier = traits.versionHashModifier { message.append(modifier) }
    message.hash()
  }

  /// Hash of the last entity in a line of parents, topmost first: 32 bytes.
  package static func of(line: [EntitySchema]) -> [UInt8] {
    line.reduce(Lineage(.coreData)) { $0.adding($1) }.hash
  }

  /// The part of an entity's hash that depends on its ancestors.
  struct Lineage {
    private let _rule: Rule
    /// Hash of the last entity; nil before the first.
    private var _digest: HashMessage.Digest?
    private var _properties: [Property] = []

    private struct Property {
      let name: String
      let digest: HashMessage.Digest
    }

    init(_ rule: Rule) { _rule = rule }

    /// Hash of the last entity: 32 bytes; empty before the first.
    var hash: [UInt8] { _digest?.bytes ?? [] }

    /// The same line with one more entity below.
    func adding(_ entity: EntitySchema) -> Lineage {
      var next = self
      var message = HashMessage()
      for attribute in entity.attributes where !attribute.isTransient {
        _hash(attribute, in: &message)
        next._properties.append(Property(name: attribute.name, digest: message.digest))
      }
      for relationship in entity.relationships where !relationship.traits.isTransient {
        _hash(relationship, declaredBy: entity.name, _rule, in: &message)
        next._properties.append(Property(name: relationship.name, digest: message.digest))
      }
      message.removeAll()
      message.append(entity.name)
      message.append((entity.isAbstract ? 1 : 0) as UInt8)
      if let _digest { message.append(_digest) }
      for property in next._properties.sorted(by: { _precedes($0.name, $1.name) }) {
        message.append(property.digest)
      }
      let modifier = entity.versionHashModifier ?? ""
      if _rule == .coreData { message.append(modifier) }
      let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      for constraint in constraints.sorted(by: _precedes) { message.append(constraint) }
      if _rule == .former { message.append(modifier) }
      message.hash()
      next._digest = message.digest
      return next
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
