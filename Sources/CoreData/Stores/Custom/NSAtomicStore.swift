import Foundation

/// A custom store that is read whole when it is added, and written whole with each save: a document in
/// a custom format.
///
/// Subclass it, override `loadMetadata()`, `load()`, `save()`, `newReferenceObject(for:)`,
/// `newCacheNode(for:)` and `updateCacheNode(_:from:)`, and register the class with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`. Fetches are carried out on the nodes'
/// values in memory. The methods are called one at a time, on the thread that adds the store or saves.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  // Unchecked: as its superclass; `_nodes` is touched by the methods that are called one at a time.
  private var _nodes: [ObjectKey: NSAtomicStoreCacheNode] = [:]

  /// Reads the store: makes a node for each object, with `objectID(for:withReferenceObject:)` as its ID, and
  /// adds them with `addCacheNodes(_:)`. Must be overridden.
  ///
  /// ```swift
  /// final class ListStore: NSAtomicStore, @unchecked Sendable {
  ///   override func load() throws {
  ///     let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Tag"]!
  ///     let lines = try String(contentsOf: url!, encoding: .utf8).split(separator: "\n")
  ///     let nodes = lines.map { line in
  ///       let node = NSAtomicStoreCacheNode(
  ///         objectID: objectID(for: entity, withReferenceObject: String(line)))
  ///       node.setValue(String(line), forKey: "name")
  ///       return node
  ///     }
  ///     addCacheNodes(Set(nodes))
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: What adding the store is to throw.
  open func load() throws { mustOverride("load()") }

  /// Writes all of `cacheNodes()`, and the metadata. Must be overridden.
  ///
  /// ```swift
  /// final class ListStore: NSAtomicStore, @unchecked Sendable {
  ///   override func save() throws {
  ///     let names = cacheNodes().compactMap { $0.value(forKey: "name") as? String }
  ///     try names.sorted().joined(separator: "\n").write(to: url!, atomically: true, encoding: .utf8)
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: What the save is to throw; nodes are what they were before it then.
  open func save() throws { mustOverride("save()") }

  /// A node with the values of a new object. Must be overridden.
  ///
  /// Other new objects, to which it may have relationships, have no nodes yet, or are in the middle of
  /// getting them: what is saved in `save()` can be read from the objects' IDs, or nodes be made for them
  /// here and answered when their turn comes.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    mustOverride("newCacheNode(for:)")
  }

  /// Puts the values of a changed object into its node. Must be overridden.
  ///
  /// ```swift
  /// final class ListStore: NSAtomicStore, @unchecked Sendable {
  ///   override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
  ///     node.setValue(managedObject.value(forKey: "name"), forKey: "name")
  ///   }
  /// }
  /// ```
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    mustOverride("updateCacheNode(_:from:)")
  }

  /// What names a new object in the store: a string, a number, or anything with a description. Must be
  /// overridden.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    mustOverride("newReferenceObject(for:)")
  }

  /// The nodes of all objects.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(_nodes.values) }

  /// Adds nodes: when loading by the class, when saving by the framework.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes {
      if let key = node.objectID.key { _nodes[key] = node }
    }
  }

  /// Called before the nodes of deleted objects are dropped.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// The node of an object; nil if it has none.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    objectID.key.flatMap { _nodes[$0] }
  }

  /// The ID of the object that a reference stands for.
  public final func objectID(
    for entity: NSEntityDescription, withReferenceObject data: Any
  ) -> NSManagedObjectID {
    objectID(entity, reference: data)
  }

  /// The reference that an ID of this store was made for; traps for an ID of another store, as Core Data
  /// raises.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }

  final func dropCacheNodes(_ keys: [ObjectKey]) { for key in keys { _nodes[key] = nil } }

  private func mustOverride(_ method: String) -> Never {
    programmerError(
      "\(Swift.type(of: self)) must override \(method); NSAtomicStore knows nothing of its file.")
  }
}
