import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

/// Owners of to-manys whose members several programs change. Of two coordinators, each stands for a program.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct OwnerTests {
  private let _mine: ServerStack
  private let _theirs: ServerStack

  init() throws {
    _mine = try ServerStack()
    _theirs = try ServerStack(at: _mine.url)
  }

  /// A new object that all contexts see.
  private func _stored(_ entity: String, _ values: [String: Any]) throws -> URL {
    let context = _mine.context()
    return try context.performAndWait {
      let object = context.make(entity, values)
      try context.save()
      return object.objectID.uriRepresentation()
    }
  }

  private func _object(_ uri: URL, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
    return try context.existingObject(with: id)
  }

  /// Changes an object in a context of its own and saves.
  private func _change(_ uri: URL, _ stack: ServerStack, _ change: (NSManagedObject) throws -> Void) throws {
    let context = stack.context()
    try context.performAndWait {
      try change(try _object(uri, context))
      try context.save()
    }
  }

  /// Lets two programs read an object and change it, and saves the other one's change first.
  ///
  /// - Parameter check: Called with the object after the own save.
  private func _race(
    _ uri: URL, _ mine: (NSManagedObject) -> Void, _ theirs: (NSManagedObject) throws -> Void,
    check: (NSManagedObject) throws -> Void = { _ in }
  ) throws {
    let context = _mine.context()
    try context.performAndWait {
      let object = try _object(uri, context)
      _ = object.value(forKey: object.entity.attributesByName.keys.sorted()[0])
      try _change(uri, _theirs, theirs)
      mine(object)
      try context.save()
      #expect(!context.hasChanges)
      try check(object)
    }
  }

  /// A context that merges saves, and an object that it shows with its members.
  private func _watching(_ uri: URL) throws -> (NSManagedObjectContext, NSManagedObject) {
    let watcher = _mine.context()
    watcher.automaticallyMergesChangesFromParent = true
    return try watcher.performAndWait {
      let company = try _object(uri, watcher)
      _ = try _names(company, "staff", "firstName")
      return (watcher, company)
    }
  }

  private func _add(_ name: String) -> (NSManagedObject) -> Void {
    { $0.managedObjectContext!.make("Person", ["firstName": name, "employer": $0]) }
  }

  private func _staff(_ uri: URL) throws -> [String] {
    let context = try ServerStack(at: _mine.url).context()
    return try context.performAndWait { try _names(_object(uri, context), "staff", "firstName") }
  }

  private func _names(_ object: NSManagedObject, _ relationship: String, _ key: String) throws -> [String] {
    let members = try #require(object.value(forKey: relationship) as? Set<NSManagedObject>)
    return members.map { $0.value(forKey: key) as? String ?? "-" }.sorted()
  }

  @Test func `members that two programs add to one owner are both there`() throws {
    let company = try _stored("Company", ["name": "both"])
    try _race(company, _add("mine"), _add("theirs")) { company in
      try #expect(_names(company, "staff", "firstName") == ["mine", "theirs"])
    }
    try #expect(_staff(company) == ["mine", "theirs"])
  }

  @Test func `a member is added to an owner whose attributes another program has changed`() throws {
    let company = try _stored("Company", ["name": "old"])
    try _race(company, _add("mine"), { $0.setValue("new", forKey: "name") }) { company in
      #expect(company.value(forKey: "name") as? String == "new")
    }
    // What the coordinator knows of the row is what the server has.
    try _change(company, _mine) { company in
      #expect(company.value(forKey: "name") as? String == "new")
      company.setValue("newer", forKey: "name")
    }
  }

  @Test func `an attribute changes although another program has added members`() throws {
    let company = try _stored("Company", ["name": "old"])
    try _race(company, { $0.setValue("new", forKey: "name") }, _add("theirs")) { company in
      try #expect(_names(company, "staff", "firstName") == ["theirs"])
    }
    try _change(company, _theirs) { #expect($0.value(forKey: "name") as? String == "new") }
  }

  @Test func `an attribute that both programs change is a conflict`() throws {
    let company = try _stored("Company", ["name": "old"])
    let error = #expect(throws: CocoaError.self) {
      try _race(company, { $0.setValue("mine", forKey: "name") }, { $0.setValue("theirs", forKey: "name") })
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `a member and an attribute beside another program's attribute are a conflict`() throws {
    let company = try _stored("Company", ["name": "old"])
    let error = #expect(throws: CocoaError.self) {
      try _race(
        company,
        {
          _add("mine")($0)
          $0.setValue("mine", forKey: "name")
        }, { $0.setValue("theirs", forKey: "name") })
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
    try #expect(_staff(company) == [])
  }

  @Test func `pairs that two programs add to one object are all there`() throws {
    let person = try _stored("Person", ["firstName": "tagged"])
    func tag(_ name: String) -> (NSManagedObject) -> Void {
      { person in
        let tag = person.managedObjectContext!.make("Tag", ["name": name])
        person.mutableSetValue(forKey: "tags").add(tag)
      }
    }
    try _race(person, tag("mine"), tag("theirs")) { person in
      try #expect(_names(person, "tags", "name") == ["mine", "theirs"])
    }
  }

  @Test func `orders that two programs change are a conflict`() throws {
    let list = try _stored("PlayList", ["title": "ordered"])
    func add(_ title: String) -> (NSManagedObject) -> Void {
      { list in
        let track = list.managedObjectContext!.make("Track", ["title": title])
        list.mutableOrderedSetValue(forKey: "tracks").add(track)
      }
    }
    let error = #expect(throws: CocoaError.self) { try _race(list, add("mine"), add("theirs")) }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `a title beside another program's order is a conflict`() throws {
    let list = try _stored("PlayList", ["title": "old"])
    let error = #expect(throws: CocoaError.self) {
      try _race(
        list, { $0.setValue("new", forKey: "title") },
        { list in
          let track = list.managedObjectContext!.make("Track", ["title": "theirs"])
          list.mutableOrderedSetValue(forKey: "tracks").add(track)
        })
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `a member added to an owner that is gone is a conflict`() throws {
    let company = try _stored("Company", ["name": "gone"])
    let error = #expect(throws: CocoaError.self) {
      try _race(company, _add("mine"), { $0.managedObjectContext!.delete($0) })
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `an owner to which another program has added members is not deleted unseen`() throws {
    let company = try _stored("Company", ["name": "kept"])
    let error = #expect(throws: CocoaError.self) {
      try _race(company, { $0.managedObjectContext!.delete($0) }, _add("theirs"))
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
    try #expect(_staff(company) == ["theirs"])
  }

  @Test func `an owner whose version is to be checked conflicts with new members`() throws {
    let company = try _stored("Company", ["name": "checked"])
    let error = #expect(throws: CocoaError.self) {
      try _race(
        company,
        { company in
          company.managedObjectContext!.detectConflicts(for: company)
          company.managedObjectContext!.make("Tag", ["name": "checking"])
        }, _add("theirs"))
    }
    #expect(error?.code.rawValue == NSManagedObjectMergeError)
  }

  @Test func `members conflict where the relationship's user info asks for it`() throws {
    func model() -> NSManagedObjectModel {
      let model = TestModel.make()
      model.entitiesByName["Company"]!.relationshipsByName["staff"]!.userInfo = [
        "postgresql.conflicts": "owner"
      ]
      return model
    }
    let mine = try ServerStack(model())
    let theirs = try ServerStack(model(), at: mine.url)
    let context = mine.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "one"])
      try context.save()
      let other = theirs.context()
      try other.performAndWait {
        _add("theirs")(try #require(try other.all("Company").first))
        try other.save()
      }
      _add("mine")(company)
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSManagedObjectMergeError)
    }
  }

  @Test func `a child context's member is added to an owner that another program has changed`() throws {
    let uri = try _stored("Company", ["name": "old"])
    let parent = _mine.context()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let id = try #require(_mine.coordinator.managedObjectID(forURIRepresentation: uri))
      let company = try child.existingObject(with: id)
      try _change(uri, _theirs) { company in
        company.setValue("new", forKey: "name")
        _add("theirs")(company)
      }
      _add("mine")(company)
      try child.save()
    }
    try parent.performAndWait {
      try parent.save()
      let company = try _object(uri, parent)
      #expect(company.value(forKey: "name") as? String == "new")
      try #expect(_names(company, "staff", "firstName") == ["mine", "theirs"])
    }
    try child.performAndWait {
      let id = try #require(_mine.coordinator.managedObjectID(forURIRepresentation: uri))
      let company = try child.existingObject(with: id)
      child.refresh(company, mergeChanges: true)
      #expect(company.value(forKey: "name") as? String == "new")
    }
  }

  @Test func `a context that merges the save shows the newer owner`() throws {
    let uri = try _stored("Company", ["name": "old"])
    let (watcher, seen) = try _watching(uri)
    try _race(uri, _add("mine")) { company in
      company.setValue("new", forKey: "name")
      _add("theirs")(company)
    }
    try watcher.performAndWait {
      #expect(seen.value(forKey: "name") as? String == "new")
      try #expect(_names(seen, "staff", "firstName") == ["mine", "theirs"])
    }
  }

  @Test func `the save's undo does not take back what another program has changed`() throws {
    let uri = try _stored("Company", ["name": "old"])
    let context = _mine.context()
    context.undoManager = UndoManager()
    try context.performAndWait {
      let company = try _object(uri, context)
      _ = company.value(forKey: "name")
      try _change(uri, _theirs) { $0.setValue("new", forKey: "name") }
      _add("mine")(company)
      try context.save()
      #expect(company.value(forKey: "name") as? String == "new")
      context.undo()
      #expect(company.value(forKey: "name") as? String == "new")
      try #expect(_names(company, "staff", "firstName") == [])
      try context.save()
    }
    try #expect(_staff(uri) == [])
  }

  @Test func `programs that add members to one owner at once never conflict`() throws {
    let company = try _stored("Company", ["name": "busy"])
    let (programs, saves) = (4, 25)
    let problems = Mutex<[String]>([])
    let url = _mine.url
    DispatchQueue.concurrentPerform(iterations: programs) { program in
      do {
        let context = try ServerStack(at: url, options: [NSPersistentStoreConnectionPoolMaxSizeKey: 2])
          .context()
        try context.performAndWait {
          let company = try _object(company, context)
          for number in 0..<saves {
            _add("\(program) \(number)")(company)
            try context.save()
          }
        }
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    #expect(problems.withLock { $0 } == [])
    try #expect(_staff(company).count == programs * saves)
    let session = try ServerSession(_mine)
    // Each save has stepped the version, by which others notice it.
    try #expect(
      session.number("SELECT version FROM \(session.schema).company WHERE name = $1::text", "busy")
        == Int64(programs * saves + 1))
  }

  @Test func `a context that merges shows an owner that contexts of its coordinator have changed`() throws {
    let uri = try _stored("Company", ["name": "shared"])
    let (watcher, seen) = try _watching(uri)
    let problems = Mutex<[String]>([])
    let (savers, saves) = (4, 15)
    DispatchQueue.concurrentPerform(iterations: savers) { number in
      let context = _mine.context(.mergeByPropertyObjectTrump)
      do {
        try context.performAndWait {
          // Kept, and never refreshed.
          let company = try _object(uri, context)
          for round in 0..<saves {
            _add("\(number) \(round)")(company)
            if round % 3 == number % 3 { company.setValue("\(number) \(round)", forKey: "name") }
            try context.save()
          }
        }
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    #expect(problems.withLock { $0 } == [])
    let fresh = try ServerStack(at: _mine.url).context()
    let (name, staff) = try fresh.performAndWait {
      let company = try _object(uri, fresh)
      return (company.value(forKey: "name") as? String, try _names(company, "staff", "firstName"))
    }
    #expect(staff.count == savers * saves)
    try watcher.performAndWait {
      #expect(seen.value(forKey: "name") as? String == name)
      try #expect(_names(seen, "staff", "firstName") == staff)
    }
  }

  @Test func `owners are deleted while others add members, and no link is left to a deleted one`() throws {
    let owners = try (0..<20).map { try _stored("Company", ["name": "\($0)"]) }
    let url = _mine.url
    DispatchQueue.concurrentPerform(iterations: 3) { program in
      let context = try? ServerStack(at: url, options: [NSPersistentStoreConnectionPoolMaxSizeKey: 2])
        .context()
      context?.performAndWait {
        for owner in owners {
          guard let company = try? _object(owner, context!) else { continue }
          if program == 0 { context!.delete(company) } else { _add("\(program)")(company) }
          do { try context!.save() } catch { context!.reset() }
        }
      }
    }
    let session = try ServerSession(_mine)
    try #expect(
      session.number(
        "SELECT count(*) FROM \(session.schema).person p WHERE p.employer_id IS NOT NULL AND $1::text = '' AND NOT EXISTS "
          + "(SELECT 1 FROM \(session.schema).company c WHERE c.id = p.employer_id)", "") == 0)
  }
}
