import CoreDataModelSchema

/// Maps a store's old tables to the new ones.
package struct MigrationPlan {
  /// An entity's old and new versions.
  package struct Pair {
    package let old: PropertyLayout
    package let new: PropertyLayout
  }

  /// The rows of an old table that move to a new one.
  package struct Flow {
    package let oldRoot: Int
    package let newRoot: Int
    package let pairs: [Pair]
    /// Added to the rows' keys, so that keys from several old tables do not collide.
    package var offset: Int64 = 0
    /// Whether all rows of the old table move.
    package let isWhole: Bool
  }

  package let old: StoreMapping
  package let new: StoreMapping
  package private(set) var flows: [Flow]
  private let _matching: SchemaMatching

  /// - Parameters:
  ///   - old: The mapping of the existing tables.
  ///   - largestKeys: The largest key ever assigned in the table of each old root.
  package init(from old: StoreMapping, to new: StoreMapping, largestKeys: [Int: Int64]) {
    self.old = old
    self.new = new
    let matching = SchemaMatching(from: old.layout.schema, to: new.layout.schema)
    _matching = matching
    var groups: [[Int]: [Pair]] = [:]
    for layout in new.layout.layouts {
      guard let source = matching.source(of: layout.entityName).flatMap({ old.layout.layoutsByName[$0] })
      else { continue }
      groups[[layout.rootNumber, source.rootNumber], default: []].append(Pair(old: source, new: layout))
    }
    var flows: [Flow] = []
    for (roots, pairs) in groups.ordered(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let family = old.layout.layout(numbered: roots[1]).family
      flows.append(
        Flow(
          oldRoot: roots[1], newRoot: roots[0], pairs: pairs,
          isWhole: Set(pairs.map(\.old.entityNumber)) == Set(family)))
    }
    // The rows of the root's own old table keep their keys.
    flows = flows.ordered { left, right in
      func isOwn(_ flow: Flow) -> Int { flow.pairs.contains { $0.new.entityNumber == flow.newRoot } ? 0 : 1 }
      return (left.newRoot, isOwn(left), left.oldRoot) < (right.newRoot, isOwn(right), right.oldRoot)
    }
    var next: [Int: Int64] = [:]
    for index in flows.indices {
      let root = flows[index].newRoot
      flows[index].offset = next[root] ?? 0
      next[root, default: 0] += largestKeys[flows[index].oldRoot] ?? 0
    }
    self.flows = flows
    _largest = next
  }

  private let _largest: [Int: Int64]

  /// Returns an upper bound of the keys in a new root's table.
  package func largestKey(ofRoot root: Int) -> Int64 { _largest[root] ?? 0 }

  /// Numbers of the old join tables with links of relationships that still exist.
  package var sourceJoins: Set<Int> {
    var found: Set<Int> = []
    for pair in flows.flatMap(\.pairs) {
      for slot in pair.new.slots.indices {
        if let source = relationshipSource(of: slot, in: pair),
          case .manyToMany(let join, _, _) = old.storage(of: source, in: pair.old.entityNumber)
        {
          found.insert(join)
        }
      }
    }
    return found
  }

  /// Returns the flow of rows from an old entity's table to a new entity's; nil if there is none.
  package func flow(from oldEntity: Int, to newEntity: Int) -> Flow? {
    let roots = (
      old.layout.layout(numbered: oldEntity).rootNumber, new.layout.layout(numbered: newEntity).rootNumber
    )
    return flows.first { ($0.oldRoot, $0.newRoot) == roots }
  }

  // MARK: Slots

  /// Returns the old slot of an attribute; nil for a new one.
  package func attributeSource(of slot: Int, in pair: Pair) -> Int? {
    _matching.attributeSources(of: pair.new.entityName)[pair.new.slots[slot].name]
      .flatMap { pair.old.slot(named: $0.property.name) }
  }

  /// Returns the old slot of a relationship or of its hidden inverse; nil for a new one.
  package func relationshipSource(of slot: Int, in pair: Pair) -> Int? {
    let property = pair.new.slots[slot]
    if !property.isHidden, let source = _matching.relationshipSources(of: pair.new.entityName)[property.name]
    {
      return pair.old.slot(named: source.property.name)
    }
    // An unnamed end may have existed as the inverse of the other.
    guard let relationship = property.relationship, let inverse = relationship.inverseSlot else { return nil }
    let destination = new.layout.layout(numbered: relationship.destination)
    let other = destination.slots[inverse]
    guard !other.isHidden, let source = _matching.relationshipSources(of: destination.entityName)[other.name],
      let owner = old.layout.layoutsByName[source.entity],
      let there = owner.slot(named: source.property.name),
      let back = owner.slots[there].relationship, let hidden = back.inverseSlot,
      old.layout.layout(numbered: back.destination).family.contains(pair.old.entityNumber)
    else { return nil }
    return hidden
  }
}
