import CoreData
import CoreDataPostgreSQL
import Foundation

/// A client of a recorded run: random transactions, each recorded before it is saved and after.
///
/// One context lives as long as the client, as a screen's does; others are made for one transaction, as a request's are.
struct HistoryClient {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _version: Int
  private let _name: String
  private let _long: NSManagedObjectContext

  /// - Parameter name: Distinguishes the client, and each of its lives.
  init(url: URL, version: Int, name: String) throws {
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: HistoryModel.make(version: version))
    var options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentStoreTimeoutOption: 20, NSPostgreSQLDeadlineOption: 20,
    ]
    if ProcessInfo.processInfo.environment["TORTURE_FOLLOWS"] != nil {
      options[NSPersistentHistoryTrackingKey] = true
      options[NSPostgreSQLFollowsHistoryOption] = true
    }
    try _coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
    (_version, _name) = (version, name)
    _long = Self._context(_coordinator)
  }

  private static func _context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Makes what clients change.
  func prepare() throws {
    try _long.performAndWait {
      func make(_ entity: String, _ count: Int) {
        for key in 0..<count {
          NSEntityDescription.insertNewObject(forEntityName: entity, into: _long).setValue(key, forKey: "key")
        }
      }
      make("Register", HistoryModel.registers)
      make("Box", HistoryModel.boxes)
      make("Tag", HistoryModel.tags)
      try _long.save()
    }
  }

  /// Works until a time.
  func run(until end: UInt64) throws {
    // The long context's objects live as long, as those of a screen do.
    let shown = try _long.performAndWait {
      try _long.fetch(NSFetchRequest<NSManagedObject>(entityName: "Register"))
    }
    defer { withExtendedLifetime(shown) {} }
    var number = 0
    while HistoryEvent.now < end {
      number += 1
      let isLong = number % 3 == 0
      let context = isLong ? _long : Self._context(_coordinator)
      let name = isLong ? _name : "\(_name)-\(number)"
      context.performAndWait {
        var transaction = Transaction(
          id: "\(_name)-\(number)", contextName: name, context: context, version: _version,
          isLong: isLong)
        transaction.run()
      }
      usleep(.random(in: 0..<8_000))
    }
  }

  /// Reads lists by the registers' IDs until a time, in a context that lives as long. Each time the object is a new fault, which
  /// shows the row that is cached for as long as rows are shown at all.
  func watch(until end: UInt64) throws {
    let ids = try _long.performAndWait {
      try _long.fetch(NSFetchRequest<NSManagedObject>(entityName: "Register")).map(\.objectID)
    }
    while HistoryEvent.now < end {
      for id in ids.shuffled() { _long.performAndWait { _watch(id) } }
      usleep(100_000)
    }
  }

  private func _watch(_ id: NSManagedObjectID) {
    let begin = HistoryEvent.now
    let register = _long.object(with: id)
    // One that cannot be read is empty.
    guard let key = register.value(forKey: "key") as? Int else { return }
    HistoryEvent.read(
      context: _name, begin: begin, register: key, list: HistoryEvent.ListMark(Transaction.list(of: register))
    )
    .record()
  }

  /// What a store holds at the end.
  func content() throws -> HistoryContent {
    try _long.performAndWait {
      func all(_ entity: String) throws -> [NSManagedObject] {
        try _long.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      }
      var content = HistoryContent()
      for register in try all("Register") {
        content.lists[register.value(forKey: "key") as? Int ?? -1] = Transaction.list(of: register)
      }
      for item in try all("Item") {
        content.items.append(item.value(forKey: "name") as? String ?? "")
        let box = item.value(forKey: "box") as? NSManagedObject
        let items = box?.value(forKey: "items") as? Set<NSManagedObject>
        if box == nil { content.faults.append("the item \(content.items.last!) has no box") }
        if items?.contains(item) == false {
          content.faults.append("a box lacks its item \(content.items.last!)")
        }
      }
      for claim in try all("Claim") {
        content.claims.append(
          (claim.value(forKey: "key") as? Int ?? -1, claim.value(forKey: "owner") as? String ?? ""))
      }
      return content
    }
  }
}

/// One transaction of a client. Runs on the context's queue.
private struct Transaction {
  let id: String
  let contextName: String
  let context: NSManagedObjectContext
  let version: Int
  /// Whether the context's objects have been shown before.
  let isLong: Bool
  private var _parts: [HistoryEvent.Part] = []

  init(id: String, contextName: String, context: NSManagedObjectContext, version: Int, isLong: Bool) {
    (self.id, self.contextName, self.context) = (id, contextName, context)
    (self.version, self.isLong) = (version, isLong)
  }

  static func list(of register: NSManagedObject) -> [String] {
    (register.value(forKey: "list") as? String ?? "").split(separator: ",").map(String.init)
  }

  mutating func run() {
    do {
      switch Int.random(in: 0..<20) {
      case 0..<3: _ = try _read(Array(0..<HistoryModel.registers))
      case 3..<12: try _append()
      case 12..<15: try _move()
      case 15..<17: try _insert()
      case 17: try _delete()
      default: try _claim()
      }
    } catch {
      // A read has failed, and nothing was changed.
      context.rollback()
      usleep(20_000)
      return
    }
    if context.hasChanges { _save() }
  }

  /// Reads lists, and records what they hold.
  private func _read(_ keys: [Int]) throws -> [NSManagedObject] {
    let begin = HistoryEvent.now
    let request = NSFetchRequest<NSManagedObject>(entityName: "Register")
    request.predicate = NSPredicate(format: "key IN %@", keys)
    request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: true)]
    let registers = try context.fetch(request)
    for register in registers {
      HistoryEvent.read(
        context: contextName, begin: begin, register: register.value(forKey: "key") as? Int ?? -1,
        list: HistoryEvent.ListMark(Self.list(of: register)), isShown: isLong
      ).record()
    }
    return registers
  }

  private mutating func _append() throws {
    let busy = HistoryModel.registers - HistoryModel.quietRegisters
    let range = Int.random(in: 0..<50) == 0 ? busy..<HistoryModel.registers : 0..<busy
    let keys = Array(range.shuffled().prefix(.random(in: 1...3)))
    for register in try _read(keys) where register.value(forKey: "key") as? Int == keys[0] || Bool.random() {
      register.setValue((Self.list(of: register) + [id]).joined(separator: ","), forKey: "list")
      if version > 1 { register.setValue(id, forKey: "note") }
      _parts.append(.append(register: register.value(forKey: "key") as? Int ?? -1, element: id))
    }
  }

  private func _random(_ entity: String, _ condition: String? = nil) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    if let condition { request.predicate = NSPredicate(format: condition) }
    request.fetchLimit = 20
    return try context.fetch(request).randomElement()
  }

  private func _move() throws {
    guard let item = try _random("Item"), let box = try _random("Box") else { return }
    item.setValue(box, forKey: "box")
  }

  private mutating func _insert() throws {
    guard let box = try _random("Box"), let tag = try _random("Tag") else { return }
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item.setValue(id, forKey: "name")
    item.setValue(box, forKey: "box")
    item.mutableSetValue(forKey: "tags").add(tag)
    if version > 1 {
      NSEntityDescription.insertNewObject(forEntityName: "Remark", into: context).setValue(
        item, forKey: "item")
    }
    _parts.append(.insert(name: id))
  }

  private mutating func _delete() throws {
    guard let item = try _random("Item"), let name = item.value(forKey: "name") as? String else { return }
    context.delete(item)
    _parts.append(.delete(name: name))
  }

  private mutating func _claim() throws {
    let key = Int.random(in: 0..<HistoryModel.claims)
    if let claim = try _random("Claim", "key == \(key)"), let owner = claim.value(forKey: "owner") as? String
    {
      context.delete(claim)
      _parts.append(.release(key: key, owner: owner))
    } else {
      let claim = NSEntityDescription.insertNewObject(forEntityName: "Claim", into: context)
      claim.setValue(key, forKey: "key")
      claim.setValue(id, forKey: "owner")
      _parts.append(.claim(key: key, owner: id))
    }
  }

  private func _save() {
    HistoryEvent.attempt(id: id, time: HistoryEvent.now, parts: _parts).record()
    let changed = context.updatedObjects.union(context.deletedObjects)
    var outcome = HistoryEvent.Outcome.saved
    do {
      try context.save()
    } catch {
      outcome = (error as? CocoaError)?.code.rawValue == NSPersistentStoreSaveError ? .unknown : .failed
      context.rollback()
    }
    HistoryEvent.end(id: id, time: HistoryEvent.now, outcome).record()
    // As programs do: what was not part of it stays as it was read.
    if outcome != .saved { for object in changed { context.refresh(object, mergeChanges: false) } }
  }
}
