import CoreData
import Foundation
import Synchronization

/// An atomic store whose contents are in memory, by URL, as values and references.
final class CardStore: NSAtomicStore, @unchecked Sendable {
  // Unchecked: the framework calls one method at a time.
  static let type = "Cards"

  private struct Card: @unchecked Sendable {
    // Unchecked: values of attributes, which do not change.
    let entity: String
    let reference: String
    let values: [String: Any]
    let links: [String: [String]]
  }

  private static let _boxes = Mutex<[URL: (identifier: String, cards: [Card])]>([:])

  override var type: String { Self.type }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let identifier = _boxes.withLock { boxes in
      boxes[url, default: (UUID().uuidString, [])].identifier
    }
    _boxes.withLock { if $0[url] == nil { $0[url] = (identifier, []) } }
    return [NSStoreTypeKey: type, NSStoreUUIDKey: identifier]
  }

  override func loadMetadata() throws { metadata = try Self.metadataForPersistentStore(with: url!) }

  override func load() throws {
    let cards = Self._boxes.withLock { $0[url!]?.cards ?? [] }
    let entities = persistentStoreCoordinator!.managedObjectModel.entitiesByName
    var nodes: [String: NSAtomicStoreCacheNode] = [:]
    for card in cards {
      let id = objectID(for: entities[card.entity]!, withReferenceObject: card.reference)
      nodes[card.reference] = NSAtomicStoreCacheNode(objectID: id)
    }
    for card in cards {
      let node = nodes[card.reference]!
      for (name, value) in card.values { node.setValue(value, forKey: name) }
      for (name, references) in card.links {
        let linked = references.compactMap { nodes[$0] }
        let relationship = entities[card.entity]!.relationshipsByName[name]!
        let shown: Any? =
          if relationship.isOrdered { NSOrderedSet(array: linked) } else if relationship.isToMany {
            Set(linked)
          } else { linked.first }
        node.setValue(shown, forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    updateCacheNode(node, from: managedObject)
    return node
  }

  /// Copies values, and references for relationships, whose nodes may not be there yet.
  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
    for name in object.entity.attributesByName.keys {
      node.setValue(object.value(forKey: name), forKey: name)
    }
    for (name, relationship) in object.entity.relationshipsByName {
      let others =
        relationship.isOrdered
        ? ((object.value(forKey: name) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []).map(\.objectID)
        : object.objectIDs(forRelationshipNamed: name)
      node.setValue(others.map { referenceObject(for: $0) as! String }, forKey: name)
    }
  }

  override func save() throws {
    let cards = cacheNodes().map { node in
      let entity = node.objectID.entity
      return Card(
        entity: entity.name!, reference: referenceObject(for: node.objectID) as! String,
        values: entity.attributesByName.compactMapValues { node.value(forKey: $0.name) },
        links: entity.relationshipsByName.mapValues { _references(node.value(forKey: $0.name)) })
    }
    Self._boxes.withLock { $0[url!]?.cards = cards }
  }

  /// The references in a relationship's value: nodes after loading, references after saving.
  private func _references(_ value: Any?) -> [String] {
    if let references = value as? [String] { return references }
    let nodes: [NSAtomicStoreCacheNode] =
      switch value {
      case let nodes as NSOrderedSet: nodes.array.compactMap { $0 as? NSAtomicStoreCacheNode }
      case let nodes as Set<NSAtomicStoreCacheNode>: Array(nodes)
      case let node as NSAtomicStoreCacheNode: [node]
      default: []
      }
    return nodes.map { referenceObject(for: $0.objectID) as! String }
  }
}
