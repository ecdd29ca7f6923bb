import CoreData
import Foundation
import Testing

/// Documented behaviour of fetch requests, on every kind of store and stack.
@Suite struct FetchRequestTests {
  /// Returns a stack with saved authors by name and age.
  private func _stack(_ setting: Setting, _ ages: KeyValuePairs<String, Int>) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (name, age) in ages { stack.context.insert("Author", ["name": name, "age": age]) }
    }
    try stack.save()
    return stack
  }

  private func _byAge(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    if let format { request.predicate = NSPredicate(format: format) }
    return request
  }

  private func _names(_ stack: TestStack, _ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
    try stack.context.fetch(request).map { $0.text("name") ?? "nil" }
  }

  @Test func `a request has its defaults`() {
    let request = NSFetchRequest<NSManagedObject>()
    #expect(request.entity == nil && request.predicate == nil && request.sortDescriptors == nil)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.resultType == .managedObjectResultType && request.requestType == .fetchRequestType)
    #expect(request.includesSubentities && request.includesPendingChanges && request.includesPropertyValues)
    #expect(
      request.returnsObjectsAsFaults && !request.returnsDistinctResults
        && !request.shouldRefreshRefetchedObjects)
    #expect(
      request.propertiesToFetch == nil && request.propertiesToGroupBy == nil && request.havingPredicate == nil
    )
    #expect(request.relationshipKeyPathsForPrefetching ?? [] == [] && request.affectedStores == nil)
    #expect(NSFetchRequestResultType.managedObjectIDResultType.rawValue == 1)
    #expect(
      NSFetchRequestResultType.dictionaryResultType.rawValue == 2
        && NSFetchRequestResultType.countResultType.rawValue == 4)
  }

  @Test func `a name becomes an entity when executed`() throws {
    let stack = try _stack(.memory, ["a": 1])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    try stack.context.performAndWait {
      _ = try stack.context.fetch(request)
      #expect(request.entity?.name == "Author")
      #expect(throws: CocoaError.self) {
        try stack.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Nobody"))
      }
    }
  }

  @Test func `a request executes in the context of the block`() throws {
    let stack = try _stack(.memory, ["a": 1])
    let count = try stack.context.performAndWait {
      try NSFetchRequest<NSManagedObject>(entityName: "Author").execute().count
    }
    #expect(count == 1)
  }

  @Test func `names of properties read back as descriptions once the request has an entity`() throws {
    let author = try #require(LibraryModel.make().entitiesByName["Author"])
    let request = NSFetchRequest<NSDictionary>(entityName: "Author")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", "agent.name"]
    request.propertiesToGroupBy = ["name"]
    #expect(request.propertiesToGroupBy as? [String] == ["name"])
    let copy = request.copy() as? AnyFetchRequest
    request.entity = author
    #expect(request.propertiesToGroupBy as? [NSPropertyDescription] == [author.propertiesByName["name"]!])
    #expect((request.propertiesToFetch?.first as? NSPropertyDescription)?.name == "name")
    // The entity has no property of that name.
    #expect(request.propertiesToFetch?.last as? String == "agent.name")
    #expect(request == copy, "the same settings, though one has an entity by now")
  }

  @Test func `a copy is independent`() {
    let request = _byAge("age > 1")
    request.fetchLimit = 3
    let copy = request.copy() as! NSFetchRequest<NSManagedObject>
    request.fetchLimit = 5
    #expect(copy.fetchLimit == 3 && copy.predicate == request.predicate && copy.entityName == "Author")
  }

  // MARK: Unsaved changes

  @Test(arguments: Setting.allCases) func `unsaved changes decide who is found and in which order`(
    _ setting: Setting
  )
    throws
  {
    let stack = try _stack(setting, ["in": 10, "out": 20, "gone": 30, "later": 1])
    try stack.context.performAndWait {
      let all = try stack.context.all("Author")
      all.first { $0.text("name") == "out" }?.setValue(2, forKey: "age")
      all.first { $0.text("name") == "later" }?.setValue(40, forKey: "age")
      stack.context.delete(all.first { $0.text("name") == "gone" }!)
      stack.context.insert("Author", ["name": "new", "age": 15])
      try #expect(_names(stack, _byAge("age >= 10")) == ["in", "new", "later"])
      try #expect(stack.context.count(for: _byAge("age >= 10")) == 3)
      let counting = NSFetchRequest<NSNumber>(entityName: "Author")
      counting.resultType = .countResultType
      counting.predicate = NSPredicate(format: "age >= 10")
      try #expect(stack.context.fetch(counting) == [NSNumber(value: 3)])
    }
  }

  @Test(arguments: Setting.direct)
  func `without pending changes the store decides what matches`(
    _ setting: Setting
  ) throws {
    let stack = try _stack(setting, ["a": 10, "b": 20])
    try stack.context.performAndWait {
      let request = _byAge("age == 10")
      request.includesPendingChanges = false
      try stack.context.fetch(request)[0].setValue(99, forKey: "age")
      stack.context.insert("Author", ["name": "c", "age": 10])
      let found = try stack.context.fetch(request)
      #expect(found.map { $0.value(forKey: "age") as? Int } == [99])
    }
  }

  @Test(arguments: Setting.direct) func `identities include temporary ones`(_ setting: Setting) throws {
    let stack = try _stack(setting, ["a": 10])
    try stack.context.performAndWait {
      let new = stack.context.insert("Author", ["name": "b"])
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      request.resultType = .managedObjectIDResultType
      let found = try stack.context.fetch(request)
      #expect(found.count == 2 && found.contains(new.objectID) && new.objectID.isTemporaryID)
    }
  }

  @Test(arguments: Setting.direct) func `unsaved changes are folded into the stores window`(
    _ setting: Setting
  ) throws {
    let stack = try _stack(setting, ["alpha": 22, "beta": 25, "gamma": 10])
    try stack.context.performAndWait {
      let all = try stack.context.all("Author")
      func author(_ name: String) -> NSManagedObject { all.first { $0.text("name") == name }! }
      author("alpha").setValue(5, forKey: "age")
      stack.context.delete(author("beta"))
      author("gamma").setValue(21, forKey: "age")
      stack.context.insert("Author", ["name": "delta", "age": 30])
      stack.context.insert("Author", ["name": "epsilon", "age": 40])
      let request = _byAge()
      request.fetchOffset = 1
      request.fetchLimit = 2
      let found = try _names(stack, request)
      // Apple applies the window to saved values; only the limit is guaranteed.
      #expect(found.count <= 2 && found.first == "alpha")
    }
  }

  @Test(arguments: Setting.allCases) func `a clean contexts window is exact`(_ setting: Setting) throws {
    let stack = try _stack(setting, ["a": 1, "b": 2, "c": 3, "d": 4])
    try stack.fresh { context in
      let request = _byAge()
      request.fetchOffset = 1
      request.fetchLimit = 2
      try #expect(context.fetch(request).map { $0.text("name") } == ["b", "c"])
      request.fetchOffset = 9
      try #expect(context.fetch(request).isEmpty)
    }
  }

  // MARK: Entities, faults, stores

  @Test(arguments: Setting.allCases) func `subentities are included unless not wanted`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    stack.context.performAndWait { _ = stack.context.insert("Book", ["title": "saved"]) }
    try stack.save()
    try stack.context.performAndWait {
      stack.context.insert("Novel", ["title": "unsaved"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      try #expect(stack.context.fetch(request).count == 2)
      request.includesSubentities = false
      try #expect(stack.context.fetch(request).map { $0.text("title") } == ["saved"])
      try #expect(stack.context.count("Publication") == 2)
    }
  }

  @Test(arguments: Setting.direct) func `objects are realised if faults are not wanted`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting, ["a": 1])
    try stack.fresh { context in
      let request = _byAge()
      try #expect(context.fetch(request).allSatisfy(\.isFault))
      request.returnsObjectsAsFaults = false
      try #expect(context.fetch(request).allSatisfy { !$0.isFault })
    }
  }

  @Test func `stores are concatenated in their order and may be named`() throws {
    let stack = try _stack(.memory, ["first": 9])
    let second = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "second", "age": 3])
      stack.context.assign(author, to: second)
      try stack.context.save()
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["first", "second"])
      try #expect(_names(stack, _byAge()) == ["second", "first"])
      let request = _byAge()
      request.affectedStores = [second]
      try #expect(_names(stack, request) == ["second"])
    }
  }

  // MARK: Templates

  @Test func `templates are copied with their variables replaced`() throws {
    let model = LibraryModel.make()
    let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
    template.predicate = NSPredicate(format: "name == $NAME AND age > $AGE")
    model.setFetchRequestTemplate(template, forName: "named")
    let made = model.fetchRequestFromTemplate(
      withName: "named", substitutionVariables: ["NAME": "x", "AGE": 3, "OTHER": 1])
    #expect(made?.predicate == NSPredicate(format: "name == 'x' AND age > 3"))
    #expect(model.fetchRequestTemplate(forName: "named")?.predicate == template.predicate)
    let null = model.fetchRequestFromTemplate(
      withName: "named", substitutionVariables: ["NAME": NSNull(), "AGE": 3])
    #expect(null?.predicate == NSPredicate(format: "name == nil AND age > 3"))
    model.setFetchRequestTemplate(nil, forName: "named")
    #expect(model.fetchRequestTemplate(forName: "named") == nil)
  }

  // MARK: Meaning

  /// Returns the names found by SQLite and by evaluation on the objects.
  private func _both(_ format: String, _ arguments: [Any] = []) throws -> (sql: [String], memory: [String]) {
    let stack = try TestStack(.sqlite)
    return try stack.context.performAndWait {
      for (name, age) in [("a", 1), ("b", 2)] { stack.context.insert("Author", ["name": name, "age": age]) }
      stack.context.insert("Author", ["age": NSNull()]).setValue(nil, forKey: "age")
      try stack.context.save()
      let predicate = NSPredicate(format: format, argumentArray: arguments)
      func names(_ list: [NSManagedObject]) -> [String] { list.map { $0.text("name") ?? "nil" }.sorted() }
      let all = try stack.context.all("Author")
      return (
        names(try stack.context.all("Author", where: predicate)),
        names(all.filter { predicate.evaluate(with: $0) })
      )
    }
  }

  @Test func `unequal to a constant omits nil in SQL but not in memory`() throws {
    let found = try _both("name != 'a'")
    #expect(found.sql == ["b"] && found.memory == ["b", "nil"])
  }

  @Test func `negations leave nil out in SQL and not in memory`() throws {
    let found = try _both("NOT (age < 2)")
    #expect(found.sql == ["b"] && found.memory == ["b", "nil"])
  }

  /// Memory computes exactly, or yields infinity or zero for nil, where SQLite computes in binary and with
  /// NULL.
  @Test func `numbers disagree where the reference says so`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "a"])
      stack.context.insert(
        "Book", ["title": "one", "price": 4.0, "cost": NSDecimalNumber(string: "0.1"), "author": author])
      stack.context.insert("Book", ["title": "two", "author": author])
      try stack.context.save()
      let cases = [
        // @avg counts nil as zero in memory.
        ("Author", "books.@avg.price == 2", 0, 1), ("Author", "books.@avg.price == 4", 1, 0),
        // average() ignores it in both.
        ("Author", "average(books.price) == 4", 1, 1),
        // PostgreSQL computes like memory.
        ("Book", "price / 0.0 > 1", TestDatabase.server == nil ? 0 : 1, 1),
        ("Book", "cost * 3 == 0.3", TestDatabase.server == nil ? 0 : 1, 1),
        ("Book", "NOT (title IN {'one'})", 1, 1), ("Book", "price != 5", 1, 2),
      ]
      for (entity, format, inSQL, inMemory) in cases {
        let predicate = NSPredicate(format: format)
        let found = try stack.context.all(entity, where: predicate).count
        let matching = try stack.context.all(entity).filter { try predicate.matches($0) }.count
        #expect(found == inSQL && matching == inMemory, "\(format)")
      }
    }
  }

  @Test func `comparisons of order never find nil`() throws {
    let found = try _both("age < 100 OR age >= 0")
    #expect(found.sql == ["a", "b"] && found.memory == ["a", "b"])
  }

  @Test func `nil is tested for`() throws {
    try #expect(_both("name == nil") == (["nil"], ["nil"]))
    try #expect(_both("name != nil") == (["a", "b"], ["a", "b"]))
  }

  @Test func `constants mean what they say`() throws {
    try #expect(_both("TRUEPREDICATE").sql.count == 3)
    try #expect(_both("FALSEPREDICATE").sql.isEmpty)
    try #expect(_both("name IN %@", [["a", "z"]]) == (["a"], ["a"]))
    try #expect(_both("name IN %@", [NSOrderedSet(array: ["b"])]) == (["b"], ["b"]))
    try #expect(_both("name IN %@", [[String]()]) == ([], []))
    try #expect(_both("NOT name IN %@", [["a"]]).sql == ["b"])
    try #expect(_both("age BETWEEN {1, 2}") == (["a", "b"], ["a", "b"]))
    try #expect(_both("noindex(age) == 2") == (["b"], ["b"]))
  }

  @Test func `texts and numbers are compared by the columns affinity`() throws {
    let stack = try _stack(.sqlite, ["1": 7, "x": 1])
    try stack.context.performAndWait {
      for (format, expected) in [("name == 1", "1"), ("age == '1'", "x")] {
        let found = try stack.context.all("Author", where: NSPredicate(format: format))
        #expect(found.map { $0.text("name") } == [expected])
      }
    }
  }

  @Test(arguments: Setting.direct) func `rows deleted after a batched fetch cannot be filled`(
    _ setting: Setting
  ) throws {
    let stack = try _stack(setting, ["a": 1, "b": 2])
    let request = _byAge()
    request.fetchBatchSize = 1
    let context = stack.sibling()
    try context.performAndWait {
      let found = try context.fetch(request)
      try stack.context.performAndWait {
        stack.context.delete(try stack.context.all("Author", by: "age")[1])
        try stack.context.save()
      }
      #expect(found.count == 2 && found[0].text("name") == "a" && found[1].isFault)
      #expect(throws: CocoaError.self) { try context.existingObject(with: found[1].objectID) }
    }
  }

  @Test func `what SQLite cannot do throws instead of filtering in memory`() throws {
    let stack = try _stack(.sqlite, ["a": 1])
    stack.context.performAndWait {
      let predicates = [
        NSPredicate { _, _ in true }, NSPredicate(format: "FUNCTION(name, 'uppercaseString') == 'A'"),
        NSPredicate(format: "ALL books.pages > 1"), NSPredicate(format: "books.pages > 1"),
        NSPredicate(format: "colour == 1"),
      ]
      for predicate in predicates {
        #expect(throws: CocoaError.self) { try stack.context.all("Author", where: predicate) }
      }
      #expect(throws: CocoaError.self) {
        try stack.context.all("Book", where: NSPredicate(format: "mark == 'x'"))
      }
      for key in ["books.title", "mark"] {
        #expect(throws: CocoaError.self) { try stack.context.all("Author", by: key) }
      }
    }
  }

  @Test(arguments: Setting.direct) func `an unsaved object matches only unsaved ones`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting, ["a": 1])
    try stack.context.performAndWait {
      let mentor = stack.context.insert("Author", ["name": "mentor"])
      try #expect(stack.context.all("Author", where: NSPredicate(format: "mentor == %@", mentor)).isEmpty)
      stack.context.insert("Author", ["name": "pupil", "mentor": mentor])
      try #expect(
        stack.context.all("Author", where: NSPredicate(format: "mentor == %@", mentor)).map {
          $0.text("name")
        } == ["pupil"])
      try #expect(stack.context.all("Author", where: NSPredicate(format: "SELF == %@", mentor)) == [mentor])
    }
  }

  @Test(arguments: Setting.direct) func `entities are compared`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["title": "book"])
      stack.context.insert("Novel", ["title": "novel"])
      try stack.context.save()
      let entity = stack.coordinator.managedObjectModel.entitiesByName["Book"]!
      try #expect(
        stack.context.all("Book", where: NSPredicate(format: "entity == %@", entity)).map { $0.text("title") }
          == ["book"])
      try #expect(
        stack.context.all("Book", where: NSPredicate(format: "entity.name == 'Novel'")).map {
          $0.text("title")
        } == ["novel"])
    }
  }

  @Test func `a fetch for another class than the entity's is an error`() throws {
    let stack = try TestStack(.memory)
    _ = try stack.stored("Author", ["name": "Ada"])
    _ = stack.context.performAndWait {
      #expect {
        try stack.context.fetch(NSFetchRequest<ValidatedItem>(entityName: "Author"))
      } throws: {
        ($0 as NSError).code == NSCoreDataError
      }
    }
  }
}
