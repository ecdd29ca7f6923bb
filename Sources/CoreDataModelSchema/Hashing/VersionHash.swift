/// The hashes by which a store and a model recognise each other: equal to those Core Data writes (its version
/// 3).
///
/// They cover what decides the shape of a table, not default values, limits, classes, indexes or user info.
package enum VersionHash {
  /// Hash of an attribute: 32 bytes.
  package static func of(_ attribute: AttributeSchema) -> [UInt8] {
    if let derivation = attribute.derivationExpression {
      return SHA256.hash(DerivationText.canonical(derivation).utf8)
    }
    if attribute.type == .composite {
      let elements = attribute.elements.sorted { _precedes($0.name, $1.name) }
      return SHA256.hash(elements.flatMap { of($0) })
    }
    var message = _base(attribute.traits)
    message += _bytes(Int32(attribute.type.rawValue))
    if attribute.preservesValueInHistoryOnDeletion { message.append(1) }
    if attribute.allowsExternalBinaryDataStorage { message.append(1) }
    return SHA256.hash(message)
  }

  /// Hash of a relationship: 32 bytes.
  package static func of(_ relationship: RelationshipSchema) -> [UInt8] {
    var message = _base(relationship.traits)
    message += relationship.destination.utf8
    message += (relationship.inverse ?? "").utf8
    message += _bytes(Int32(truncatingIfNeeded: relationship.maxCount))
    message += _bytes(Int32(truncatingIfNeeded: relationship.minCount))
    if relationship.isOrdered { message += [1, 0] }
    return SHA256.hash(message)
  }

  /// Hash of a property as such, without a type: what a fetched property has.
  package static func of(_ traits: PropertyTraits) -> [UInt8] { SHA256.hash(_base(traits)) }

  /// Hash of the last entity in a line of parents, topmost first: 32 bytes.
  package static func of(line: [EntitySchema]) -> [UInt8] {
    line.reduce(Lineage()) { $0.adding($1) }.hash
  }

  /// What the hash of an entity takes from those above it.
  struct Lineage {
    /// Hash of the last entity; empty before the first.
    private(set) var hash: [UInt8] = []
    private var _properties: [(name: String, hash: [UInt8])] = []

    /// The same line with one more entity below.
    func adding(_ entity: EntitySchema) -> Lineage {
      var next = self
      next._properties += entity.attributes.filter { !$0.isTransient }.map { ($0.name, of($0)) }
      next._properties += entity.relationships.filter { !$0.traits.isTransient }.map { ($0.name, of($0)) }
      var message = Array(entity.name.utf8)
      message.append(entity.isAbstract ? 1 : 0)
      message += hash
      for property in next._properties.sorted(by: { _precedes($0.name, $1.name) }) {
        message += property.hash
      }
      let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
      for constraint in constraints.sorted(by: _precedes) { message += constraint.utf8 }
      message += (entity.versionHashModifier ?? "").utf8
      next.hash = SHA256.hash(message)
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
    left.utf16.lexicographicallyPrecedes(right.utf16)
  }

  private static func _base(_ traits: PropertyTraits) -> [UInt8] {
    let flags: UInt8 = (traits.isOptional ? 1 : 0) | (traits.isTransient ? 2 : 0)
    var message = Array(traits.name.utf8)
    message += [flags, 0]
    if let modifier = traits.versionHashModifier { message += modifier.utf8 }
    return SHA256.hash(message)
  }

  private static func _bytes(_ number: Int32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * Int32($0))) }
  }
}

extension ModelSchema {
  /// Version hashes of all entities by name, 32 bytes each. An entity whose line of parents is broken or a
  /// circle is hashed as if it ended there; laying out such a model throws anyway.
  package func entityVersionHashes() -> [String: [UInt8]] {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var hashes: [String: [UInt8]] = [:]
    var known: [String: VersionHash.Lineage] = [:]
    for entity in entities {
      var line = [entity]
      var seen: Set<String> = [entity.name]
      while let name = line[line.count - 1].parent, let parent = byName[name], seen.insert(name).inserted {
        line.append(parent)
      }
      // A circle has no top to begin at that would be the same for all of its entities.
      let isWhole = line[line.count - 1].parent.map { byName[$0] == nil } ?? true
      var lineage = VersionHash.Lineage()
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
}
