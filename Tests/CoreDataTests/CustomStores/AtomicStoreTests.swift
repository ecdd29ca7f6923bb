import CoreData
import Foundation
import Testing

/// A store of property lists, one for each object.
final class NotebookStore: NSAtomicStore, @unchecked Sendable {
  // Unchecked: the framework calls one method at a time.
  static let type = "Notebook"
  struct Refused: Error {}

  override var type: String { Self.type }
  private(set) var calls: [String] = []
  var isFull = false

  private static func _read(_ url: URL) throws -> [String: Any] {
    let content = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
    guard let document = content as? [String: Any] else { throw CocoaError(.fileReadCorruptFile) }
    return document
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try _read(url)["metadata"] as? [String: Any] ?? [:]
  }

  override func loadMetadata() throws {
    let kept = try? Self.metadataForPersistentStore(with: url!)
    metadata = kept ?? [NSStoreTypeKey: Self.type, NSStoreUUIDKey: UUID().uuidString]
  }

  override func load() throws {
    calls.append("load")
    guard FileManager.default.fileExists(atPath: url!.path) else { return }
    let objects = try Self._read(url!)["objects"] as! [[String: Any]]
    let entities = persistentStoreCoordinator!.managedObjectModel.entitiesByName
    var nodes: [String: NSAtomicStoreCacheNode] = [:]
    for object in objects {
      let reference = object["reference"] as! String
      let id = objectID(for: entities[object["entity"] as! String]!, withReferenceObject: reference)
      nodes[reference] = NSAtomicStoreCacheNode(objectID: id)
    }
    for object in objects {
      let node = nodes[object["reference"] as! String]!
      for (name, value) in object["values"] as! [String: Any] {
        let isUUID = node.objectID.entity.attributesByName[name]?.attributeType == .UUIDAttributeType
        let shown: Any? = if isUUID { UUID(uuidString: value as! String) } else { value }
        node.setValue(shown, forKey: name)
      }
      for (name, others) in object["links"] as! [String: [String]] {
        let linked = others.compactMap { nodes[$0] }
        let isToMany = node.objectID.entity.relationshipsByName[name]!.isToMany
        let shown: Any? = if isToMany { Set(linked) } else { linked.first }
        node.setValue(shown, forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    calls.append("reference")
    return UUID().uuidString
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    calls.append("new")
    let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    _fill(node, from: managedObject)
    return node
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    calls.append("update")
    _fill(node, from: managedObject)
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    calls.append("remove \(cacheNodes.count)")
  }

  /// Copies values, and references for relationships. A decimal is stored as a number, a UUID as text.
  private func _fill(_ node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
    for name in object.entity.attributesByName.keys where name != "extra" && name != "mark" {
      let value = object.value(forKey: name)
      let kept: Any? =
        switch value {
        case let decimal as NSDecimalNumber: decimal.doubleValue
        case let uuid as UUID: uuid.uuidString
        default: value
        }
      node.setValue(kept, forKey: name)
    }
    for (name, relationship) in object.entity.relationshipsByName {
      let others = object.objectIDs(forRelationshipNamed: name).map { referenceObject(for: $0) as! String }
      let kept: Any? = if relationship.isToMany { others } else { others.first }
      node.setValue(kept, forKey: name)
    }
  }

  override func save() throws {
    calls.append("save")
    if isFull { throw Refused() }
    var objects: [[String: Any]] = []
    for node in cacheNodes() { objects.append(_record(of: node)) }
    let document: [String: Any] = ["metadata": metadata!, "objects": objects]
    try PropertyListSerialization.data(fromPropertyList: document, format: .binary, options: 0)
      .write(to: url!, options: .atomic)
  }

  private func _record(of node: NSAtomicStoreCacheNode) -> [String: Any] {
    let entity = node.objectID.entity
    var values: [String: Any] = [:]
    for name in entity.attributesByName.keys {
      if let value = node.value(forKey: name) { values[name] = value }
    }
    var links: [String: [String]] = [:]
    for name in entity.relationshipsByName.keys {
      if let value = node.value(forKey: name) { links[name] = _references(value) }
    }
    return [
      "reference": referenceObject(for: node.objectID), "entity": entity.name!, "values": values,
      "links": links,
    ]
  }

  /// Returns references for a relationship's value: nodes after loading, references after saving.
  private func _references(_ value: Any) -> [String] {
    if let text = value as? String { return [text] }
    if let texts = value as? [String] { return texts }
    let nodes =
      (value as? NSAtomicStoreCacheNode).map { [$0] } ?? Array(value as? Set<NSAtomicStoreCacheNode> ?? [])
    return nodes.map { referenceObject(for: $0.objectID) as! String }
  }
}

/// Custom stores that are read and written as a whole.
@Suite struct AtomicStoreTests {
  private let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("coredata-test-\(UUID().uuidString).notebook")

  private func open(_ model: NSManagedObjectModel = LibraryModel.make()) throws -> (
    NSPersistentStoreCoordinator, NotebookStore
  ) {
    NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, forStoreType: NotebookStore.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NotebookStore.type, configurationName: nil, at: url, options: nil)
    return (coordinator, try #require(store as? NotebookStore))
  }

  @Test func `what is saved is there when the document is loaded`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try open()
    let context = coordinator.newContext()
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ann", "age": 40])
      let book = context.insert("Book", ["title": "First", "pages": 7, "author": author])
      book.setValue(Set([context.insert("Tag", ["name": "red"])]), forKey: "tags")
      try context.save()
      #expect(store.calls == ["load", "reference", "reference", "reference", "new", "new", "new", "save"])
      book.setValue("Second", forKey: "title")
      try context.save()
      #expect(store.calls.suffix(2) == ["update", "save"])
    }
    let again = try open().0.newContext()
    try again.performAndWait {
      let book = try #require(try again.all("Book", where: NSPredicate(format: "pages == 7")).first)
      #expect(book.text("title") == "Second")
      #expect(book.object("author")?.value(forKey: "age") as? Int == 40)
      #expect(book.objects("tags").first?.text("name") == "red")
      #expect(book.object("author")?.objects("books") == [book])
      let closure = NSPredicate { object, _ in (object as? NSManagedObject)?.text("title") == "Second" }
      #expect(try again.all("Book", where: closure) == [book], "predicates are judged in memory")
    }
  }

  @Test func `nodes of deleted objects go`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try open()
    let context = coordinator.newContext()
    try context.performAndWait {
      let tag = context.insert("Tag", ["name": "red"])
      context.insert("Tag", ["name": "blue"])
      try context.save()
      context.delete(tag)
      try context.save()
      #expect(store.calls.suffix(2) == ["remove 1", "save"])
      #expect(store.cacheNodes().count == 1)
      #expect(store.cacheNode(for: tag.objectID) == nil)
    }
    try open().0.newContext().performAndWait {}
  }

  @Test func `a failed write of a document leaves the nodes unchanged`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try open()
    let context = coordinator.newContext()
    try context.performAndWait {
      let tag = context.insert("Tag", ["name": "red"])
      try context.save()
      store.isFull = true
      tag.setValue("blue", forKey: "name")
      context.insert("Tag", ["name": "green"])
      #expect(throws: NotebookStore.Refused.self) { try context.save() }
      #expect(store.cacheNodes().compactMap { $0.value(forKey: "name") as? String } == ["red"])
      #expect(tag.hasChanges)
      store.isFull = false
      try context.save()
      #expect(
        Set(store.cacheNodes().compactMap { $0.value(forKey: "name") as? String }) == ["blue", "green"])
    }
  }

  /// Opens a document in which a context deletes an owner, without saving, to which another context then links a tagged
  /// item.
  private func deletion(linkedBy key: String) throws -> (NSManagedObjectContext, NotebookStore) {
    let first = try open(RuleModel.make()).0.newContext()
    try first.performAndWait {
      first.insert("Owner")
      first.insert("Tag", ["items": Set([first.insert("Item")])])
      try first.save()
    }
    let (coordinator, store) = try open(RuleModel.make())
    let context = coordinator.newContext(), other = coordinator.newContext()
    try context.performAndWait {
      for owner in try context.all("Owner") { context.delete(owner) }
      context.processPendingChanges()
    }
    let link = try other.saved {
      try other.all("Item").first?.setValue(try other.all("Owner").first, forKey: key)
    }
    context.performAndWait { context.mergeChanges(fromContextDidSave: link) }
    return (context, store)
  }

  private func names(_ store: NotebookStore) -> [String?] {
    store.cacheNodes().map(\.objectID.entity.name).sorted { $0 ?? "" < $1 ?? "" }
  }

  @Test func `a link made meanwhile is cut in its node`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (context, store) = try deletion(linkedBy: "keeper")
    try context.performAndWait { try context.save() }
    let node = try #require(store.cacheNodes().first { $0.objectID.entity.name == "Item" })
    #expect(node.value(forKey: "keeper") == nil)
    let again = try open(RuleModel.make()).0.newContext()
    try again.performAndWait {
      let item = try #require(try again.all("Item").first), tag = try #require(try again.all("Tag").first)
      #expect(item.object("keeper") == nil)
      #expect(tag.objects("items") == [item])
    }
  }

  @Test func `the node of what cascade deletes goes, and links to it`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (context, store) = try deletion(linkedBy: "master")
    try context.performAndWait { try context.save() }
    #expect(names(store) == ["Tag"])
    let items = store.cacheNodes().first?.value(forKey: "items") as? Set<NSAtomicStoreCacheNode>
    #expect(items?.isEmpty ?? false)
    try context.performAndWait {
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.objects("items").isEmpty)
    }
  }

  @Test func `a failed write leaves what cascade would have deleted`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (context, store) = try deletion(linkedBy: "master")
    store.isFull = true
    #expect(throws: NotebookStore.Refused.self) { try context.performAndWait { try context.save() } }
    #expect(names(store) == ["Item", "Owner", "Tag"])
    let tag = store.cacheNodes().first { $0.objectID.entity.name == "Tag" }
    #expect((tag?.value(forKey: "items") as? Set<NSAtomicStoreCacheNode>)?.count == 1)
    store.isFull = false
    try context.performAndWait { try context.save() }
    #expect(names(store) == ["Tag"])
  }

  @Test func `metadata go into the document with the next save`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try open()
    coordinator.setMetadata(["mark": "here"], for: store)
    let context = coordinator.newContext()
    try context.performAndWait { try context.save() }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NotebookStore.type, at: url, options: nil)
    #expect(metadata["mark"] as? String == "here")
    #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
    #expect(metadata[NSStoreModelVersionHashesKey] is [String: Data])
  }

  @Test func `a document of another model version is refused`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let context = try open().0.newContext()
    try context.performAndWait {
      context.insert("Tag", ["name": "red"])
      try context.save()
    }
    let changed = LibraryModel.make()
    changed.entitiesByName["Tag"]!.versionHashModifier = "2"
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: changed)
    let error = #expect(throws: CocoaError.self) {
      try coordinator.addPersistentStore(ofType: NotebookStore.type, configurationName: nil, at: url)
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `a document is destroyed and no other file`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, _) = try open()
    let context = coordinator.newContext()
    try context.performAndWait {
      context.insert("Tag", ["name": "red"])
      try context.save()
    }
    try coordinator.destroyPersistentStore(at: url, ofType: NotebookStore.type)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try Data("mine".utf8).write(to: url)
    #expect(throws: (any Error).self) {
      try coordinator.destroyPersistentStore(at: url, ofType: NotebookStore.type)
    }
    #expect(FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `a nodes values are nil until one is set`() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    let (coordinator, store) = try open()
    let id = store.objectID(
      for: coordinator.managedObjectModel.entitiesByName["Tag"]!, withReferenceObject: "a")
    let node = NSAtomicStoreCacheNode(objectID: id)
    #expect(node.propertyCache == nil)
    node.setValue(nil, forKey: "name")
    #expect(node.propertyCache == nil)
    node.setValue("x", forKey: "name")
    #expect(node.propertyCache?["name"] as? String == "x")
    #expect(node.value(forKey: "name") as? String == "x")
  }
}
