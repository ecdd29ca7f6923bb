import CoreData
import Foundation
import TestSupport
import Testing

/// A deletion whose delete rules reach rows that somebody linked to the deleted one after its members were read, by a
/// batch that leaves the deleted row's version as it is.
@Suite struct FollowedRulesTests {
  /// Who links a row to the deleted one: another context of the coordinator, or another coordinator.
  enum Writer: CaseIterable { case sibling, otherCoordinator }

  private let _stack: TestStack
  private let _owner: NSManagedObjectID

  init() throws {
    _stack = try TestStack(
      .sqlite, model: RuleModel.make(), options: [NSPersistentHistoryTrackingKey: true])
    _owner = try _stack.stored("Owner", ["name": "Gone"]).objectID
  }

  /// Points a to-one of a stored object at the owner, or another object.
  private func link(
    _ id: NSManagedObjectID, _ key: String, to target: NSManagedObjectID? = nil, by writer: Writer = .sibling
  ) throws {
    let context: NSManagedObjectContext
    switch writer {
    case .sibling: context = _stack.sibling()
    case .otherCoordinator: context = try _stack.otherCoordinator().newContext()
    }
    try context.performAndWait {
      func local(_ id: NSManagedObjectID) throws -> NSManagedObjectID {
        try #require(
          context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      }
      let request = NSBatchUpdateRequest(entityName: try #require(id.entity.name))
      request.predicate = NSPredicate(format: "SELF == %@", try local(id))
      request.propertiesToUpdate = [key: try local(target ?? _owner)]
      request.resultType = .updatedObjectsCountResultType
      #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 1)
    }
  }

  /// Lets contexts read what a batch has written.
  private func forgetRow(of id: NSManagedObjectID) {
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [_stack.sibling()])
  }

  /// Deletes the owner in the root context, and saves it after `body`.
  @discardableResult
  private func deleteOwner(after body: () throws -> Void) throws -> Notification {
    let root = _stack.root
    let owner = root.performAndWait {
      let owner = root.object(with: _owner)
      for link in RuleModel.links { #expect(owner.objects(link.toMany).isEmpty) }
      root.delete(owner)
      root.processPendingChanges()
      return owner
    }
    try body()
    return try withExtendedLifetime(owner) { try root.saved() }
  }

  /// Reads the store with a new coordinator.
  private func reread<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let context = try _stack.otherCoordinator().newContext()
    return try context.performAndWait { try body(context) }
  }

  private func version(of entity: String) throws -> Int {
    var versions: [Int] = []
    try SQLiteText.rows(of: "SELECT Z_OPT FROM Z\(entity.uppercased())", at: _stack.url) {
      versions.append(Int($0[0]) ?? 0)
    }
    return try #require(versions.first)
  }

  // MARK: Rules

  @Test(arguments: Writer.allCases, ["keeper", "denier"])
  func `a link made meanwhile is cut`(_ writer: Writer, _ key: String) throws {
    let item = try _stack.stored("Item").objectID
    try deleteOwner { try link(item, key, by: writer) }
    try reread { context in
      let item = try #require(try context.all("Item").first)
      #expect(item.object(key) == nil)
    }
  }

  @Test(arguments: Writer.allCases)
  func `cascade deletes what was linked meanwhile`(_ writer: Writer) throws {
    let item = try _stack.stored("Item").objectID
    try deleteOwner { try link(item, "master", by: writer) }
    let count = try reread { try $0.count("Item") }
    #expect(count == 0)
  }

  @Test func `an insertion that cascade deletes in the same save is announced as deleted`() throws {
    let root = _stack.root
    nonisolated(unsafe) var shown = Set<NSManagedObject>()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: root, queue: nil
    ) {
      shown.formUnion($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [])
      shown.subtract($0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? [])
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let save = try root.performAndWait {
      let owner = root.object(with: _owner)
      root.delete(owner)
      root.processPendingChanges()
      root.insert("Item").setValue(owner, forKey: "master")
      return try root.saved()
    }
    #expect(root.performAndWait { shown.count } == 0)
    #expect((save.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 0)
    let count = try reread { try $0.count("Item") }
    #expect(count == 0)
  }

  @Test func `an insertion shows no link that its own save has cut`() throws {
    let root = _stack.root
    try root.performAndWait {
      let owner = root.object(with: _owner)
      root.delete(owner)
      root.processPendingChanges()
      let item = root.insert("Item", ["keeper": owner])
      try root.save()
      #expect(item.object("keeper") == nil)
      #expect(!item.hasChanges)
    }
  }

  @Test func `no action leaves what was linked meanwhile`() throws {
    let item = try _stack.stored("Item").objectID
    try deleteOwner { try link(item, "leaver") }
    try reread { context in
      let item = try #require(try context.all("Item").first)
      #expect(item.objectIDs(forRelationshipNamed: "leaver").count == 1)
    }
  }

  @Test func `cascade goes on from rows that it deletes`() throws {
    let item = try _stack.stored("Item").objectID
    let part = try _stack.stored("Part").objectID
    try deleteOwner {
      try link(item, "master")
      try link(part, "item", to: item)
    }
    let count = try reread { try $0.count("Part") }
    #expect(count == 0)
  }

  @Test func `pairs of a row that cascade deletes go with it`() throws {
    let root = _stack.root
    let item = try root.performAndWait {
      let item = root.insert("Item")
      root.insert("Tag", ["items": Set([item])])
      try root.save()
      return item.objectID
    }
    try deleteOwner { try link(item, "master") }
    try reread { context in
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.objects("items").isEmpty)
    }
  }

  @Test func `a link of an ordered to-many is cut`() throws {
    let item = try _stack.stored("Item").objectID
    try deleteOwner { try link(item, "shelf") }
    let shelf = try reread { try $0.all("Item").first?.object("shelf") }
    #expect(shelf == nil)
  }

  @Test func `the other end of a one-to-one is cut`() throws {
    let badge = try _stack.stored("Badge").objectID
    try deleteOwner { try link(badge, "owner") }
    let owner = try reread { try $0.all("Badge").first?.object("owner") }
    #expect(owner == nil)
  }

  @Test func `rules reach from and to subentities`() throws {
    let root = _stack.root
    let ids = try ["SpecialOwner", "SpecialItem", "SpecialItem"].map { try _stack.stored($0).objectID }
    root.performAndWait {
      root.delete(root.object(with: ids[0]))
      root.processPendingChanges()
    }
    try link(ids[1], "keeper", to: ids[0])
    try link(ids[2], "master", to: ids[0])
    try root.performAndWait { try root.save() }
    try reread { context in
      let items = try context.all("SpecialItem")
      #expect(items.count == 1)
      #expect(items.first?.object("keeper") == nil)
    }
  }

  @Test func `a deletion of a child reaches what was linked meanwhile`() throws {
    let item = try _stack.stored("Item").objectID
    let child = _stack.child(of: _stack.root)
    try child.performAndWait {
      child.delete(child.object(with: _owner))
      try child.save()
    }
    try link(item, "keeper", by: .otherCoordinator)
    try _stack.root.performAndWait { try _stack.root.save() }
    let keeper = try reread { try $0.all("Item").first?.object("keeper") }
    #expect(keeper == nil)
  }

  /// The deleting context has merged the link, and with it the version that linking gave the owner.
  @Test(arguments: Setting.direct, RuleModel.links.map(\.toOne))
  func `rules reach links that were merged`(_ setting: Setting, _ key: String) throws {
    let stack = try TestStack(setting, model: RuleModel.make())
    let owner = try stack.stored("Owner").objectID, item = try stack.stored("Item"), root = stack.root
    let held = root.performAndWait {
      let held = root.object(with: owner)
      root.delete(held)
      root.processPendingChanges()
      return held
    }
    let sibling = stack.sibling()
    let link = try sibling.saved {
      sibling.object(with: item.objectID).setValue(sibling.object(with: owner), forKey: key)
    }
    let isGone = key == "master"
    try root.performAndWait {
      root.mergeChanges(fromContextDidSave: link)
      if key == "denier" {
        #expect(throws: CocoaError.self) { try root.save() }
        return
      }
      try root.save()
      #expect((item.managedObjectContext == nil) == isGone)
      if key == "keeper" { #expect(item.object(key) == nil) }
    }
    let count = try stack.fresh { try $0.count("Item") }
    #expect(count == (isGone ? 0 : 1))
    let targets = try stack.fresh { try $0.all("Item").first?.objectIDs(forRelationshipNamed: key).count }
    #expect(targets == (isGone ? nil : key == "keeper" ? 0 : 1))
    withExtendedLifetime(held) {}
  }

  // MARK: Versions

  @Test(.ofFiles) func `the version of a cut row grows by one`() throws {
    let item = try _stack.stored("Item").objectID
    var before = 0
    try deleteOwner {
      try link(item, "keeper")
      before = try version(of: "Item")
    }
    let after = try version(of: "Item")
    #expect(after == before + 1)
  }

  /// The save has rebased the item's new name on the link, by its merge policy.
  @Test(.ofFiles) func `a row that is saved and cut grows by one`() throws {
    let item = try _stack.stored("Item"), root = _stack.root
    root.performAndWait {
      root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      item.setValue("Mine", forKey: "name")
    }
    var before = 0
    try deleteOwner {
      try link(item.objectID, "keeper")
      before = try version(of: "Item")
    }
    let after = try version(of: "Item")
    #expect(after == before + 1)
    root.performAndWait { #expect(item.object("keeper") == nil && item.text("name") == "Mine") }
    let keeper = try reread { try $0.all("Item").first?.object("keeper") }
    #expect(keeper == nil)
  }

  @Test func `a holder of an older version gets a conflict`() throws {
    let item = try _stack.stored("Item").objectID, holder = _stack.sibling()
    try deleteOwner {
      try link(item, "keeper")
      forgetRow(of: item)
      holder.performAndWait {
        #expect(holder.object(with: item).object("keeper") != nil)
        holder.object(with: item).setValue("Theirs", forKey: "name")
      }
    }
    let error = #expect(throws: CocoaError.self) { try holder.performAndWait { try holder.save() } }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `a row that was cut is saved again without a conflict`() throws {
    let item = try _stack.stored("Item"), root = _stack.root
    try deleteOwner { try link(item.objectID, "keeper") }
    root.performAndWait {
      item.setValue("New", forKey: "name")
      #expect(throws: Never.self) { try root.save() }
    }
  }

  // MARK: What contexts know

  @Test func `the saving context shows and reports a cut row`() throws {
    let item = try _stack.stored("Item"), root = _stack.root
    let saved = try deleteOwner {
      try link(item.objectID, "keeper")
      root.performAndWait { #expect(item.text("name") == nil) }
    }
    root.performAndWait {
      #expect(item.object("keeper") == nil)
      #expect(!root.hasChanges)
      #expect((saved.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.contains(item) ?? false)
    }
  }

  @Test func `the saving context reports a row that cascade deleted`() throws {
    let item = try _stack.stored("Item"), root = _stack.root
    let changes = Posted(.NSManagedObjectContextObjectsDidChange, by: root)
    let saved = try deleteOwner { try link(item.objectID, "master") }
    root.performAndWait {
      #expect((saved.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.contains(item) ?? false)
      #expect(
        (changes.userInfos.last?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.contains(item) ?? false)
      #expect(root.registeredObject(for: item.objectID) == nil)
      #expect(!root.hasChanges)
    }
  }

  @Test func `members forget a row that cascade deleted`() throws {
    let root = _stack.root
    let (item, tag) = try root.performAndWait {
      let item = root.insert("Item")
      let tag = root.insert("Tag", ["items": Set([item])])
      try root.save()
      return (item, tag)
    }
    try deleteOwner { try link(item.objectID, "master") }
    root.performAndWait { #expect(tag.objects("items").isEmpty) }
  }

  @Test func `a context that merges shows a cut row`() throws {
    let id = try _stack.stored("Item").objectID, reader = _stack.sibling()
    reader.automaticallyMergesChangesFromParent = true
    var item: NSManagedObject?
    try deleteOwner {
      try link(id, "keeper")
      forgetRow(of: id)
      reader.performAndWait {
        item = reader.object(with: id)
        #expect(item?.object("keeper") != nil)
      }
    }
    reader.performAndWait { #expect(item?.object("keeper") == nil) }
  }

  @Test func `a context that merges loses a row that cascade deleted`() throws {
    let id = try _stack.stored("Item").objectID, reader = _stack.sibling()
    reader.automaticallyMergesChangesFromParent = true
    var item: NSManagedObject?
    try deleteOwner {
      try link(id, "master")
      forgetRow(of: id)
      reader.performAndWait {
        item = reader.object(with: id)
        #expect(item?.object("master") != nil)
      }
    }
    reader.performAndWait { #expect(item?.isDeleted ?? false || item?.managedObjectContext == nil) }
  }

  @Test func `a child shows what was cut when its parent saved`() throws {
    let id = try _stack.stored("Item").objectID, child = _stack.child(of: _stack.root)
    child.automaticallyMergesChangesFromParent = true
    var item: NSManagedObject?
    try deleteOwner {
      try link(id, "keeper")
      forgetRow(of: id)
      child.performAndWait {
        item = child.object(with: id)
        #expect(item?.object("keeper") != nil)
      }
    }
    child.performAndWait { #expect(item?.object("keeper") == nil) }
  }

  @Test func `a new context reads a cut row from the row cache`() throws {
    let id = try _stack.stored("Item").objectID
    try deleteOwner {
      try link(id, "keeper")
      forgetRow(of: id)
      let cached = try _stack.fresh { try $0.existingObject(with: id).object("keeper") != nil }
      #expect(cached)
    }
    let keeper = try _stack.fresh { try $0.existingObject(with: id).object("keeper") }
    #expect(keeper == nil)
  }

  // MARK: History

  private func changes() throws -> [NSPersistentHistoryChange] {
    let root = _stack.root
    return try root.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try root.execute(request) as? NSPersistentHistoryResult
      return (result?.result as? [NSPersistentHistoryTransaction])?.last?.changes ?? []
    }
  }

  @Test func `history records that a link was cut`() throws {
    let id = try _stack.stored("Item").objectID
    try deleteOwner { try link(id, "keeper") }
    let change = try #require(try changes().first { $0.changedObjectID == id })
    #expect(change.changeType == .update)
    #expect(change.updatedProperties?.map(\.name) == ["keeper"])
  }

  @Test func `history records what cascade deleted`() throws {
    let id = try _stack.stored("Item").objectID
    try deleteOwner { try link(id, "master") }
    let found = try changes().filter { $0.changedObjectID == id }
    #expect(found.map(\.changeType) == [.delete])
  }

  @Test func `history records a row that is saved and cut once`() throws {
    let item = try _stack.stored("Item"), root = _stack.root
    root.performAndWait {
      root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      item.setValue("Mine", forKey: "name")
    }
    try deleteOwner { try link(item.objectID, "keeper") }
    let found = try changes().filter { $0.changedObjectID == item.objectID }
    #expect(found.map { Set($0.updatedProperties?.map(\.name) ?? []) } == [["name", "keeper"]])
  }
}
