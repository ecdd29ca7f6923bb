import Foundation

/// A custom store that is read as a whole when it is added, and written as a whole with each save: a document
/// in a custom format.
///
/// Subclass it, override `loadMetadata()`, `load()`, `save()`, `newReferenceObject(for:)`,
/// `newCacheNode(for:)` and `updateCacheNode(_:from:)`, and register the class with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`. Fetches run on the nodes' values in
/// memory. The methods are called one at a time, on the thread that adds the store or saves.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
  // Unchecked: as its superclass; `_nodes` is accessed only by methods that are called one at a time.
  private var _nodes: [ObjectKey: NSAtomicStoreCacheNode] = [:]

  /// Reads the store: creates a node for each object, with `objectID(for:withReferenceObject:)` as its ID,
  /// and adds them with `addCacheNodes(_:)`. Must be overridden.
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
  /// - Throws: The error with which adding the store fails.
  open func load() throws { _mustOverride("load()") }

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
  /// - Throws: The error with which the save fails; the nodes are then restored.
  open func save() throws { _mustOverride("save()") }

  /// Returns a node with the values of a new object. Must be overridden.
  ///
  /// Other new objects to which it is related may have no node yet. Either let `save()` read such
  /// relationships from the objects' IDs, or create their nodes here and return them when they are requested.
  open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    _mustOverride("newCacheNode(for:)")
  }

  /// Updates an object's node with its changed values. Must be overridden.
  ///
  /// ```swift
  /// final class ListStore: NSAtomicStore, @unchecked Sendable {
  ///   override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
  ///     node.setValue(managedObject.value(forKey: "name"), forKey: "name")
  ///   }
  /// }
  /// ```
  open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    _mustOverride("updateCacheNode(_:from:)")
  }

  /// Returns the reference that identifies a new object in the store: a string, a number, or any value with a
  /// description. Must be overridden.
  open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    _mustOverride("newReferenceObject(for:)")
  }

  /// The nodes of all objects.
  open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(_nodes.values) }

  /// Adds nodes: called by the class when loading, by the framework when saving.
  open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    for node in cacheNodes {
      if let key = node.objectID.key { _nodes[key] = node }
    }
  }

  /// Called before the nodes of deleted objects are dropped.
  open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

  /// Returns the node of an object; nil if it has none.
  open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
    objectID.key.flatMap { _nodes[$0] }
  }

  /// Returns the ID of the object with a given reference.
  public final func objectID(
    for entity: NSEntityDescription, withReferenceObject data: Any
  ) -> NSManagedObjectID {
    objectID(entity, reference: data)
  }

  /// Returns the reference of an ID of this store. Traps for an ID of another store, where Core Data raises.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }

  final func dropCacheNodes(_ keys: [ObjectKey]) { for key in keys { _nodes[key] = nil } }

  private func _mustOverride(_ method: String) -> Never {
    programmerError(
      "\(Swift.type(of: self)) must override \(method); NSAtomicStore knows nothing of its file.")
  }
}
