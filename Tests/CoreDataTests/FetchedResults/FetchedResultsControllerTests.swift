import CoreData
import Foundation
import Testing

@Suite("Fetched results controller")
struct FetchedResultsControllerTests {
  @Test(arguments: Setting.allCases)
  func `Without a section key path, a fetch gives one section`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: ControllerFixture.request(nil, []), managedObjectContext: stack.context,
        sectionNameKeyPath: nil,
        cacheName: "Cache")
      #expect(controller.fetchedObjects == nil)
      #expect(controller.sections == nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.isEmpty == true)
      #expect(controller.sections?.count == 1)
      #expect(controller.cacheName == "Cache")
      NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "Cache")
    }
  }

  @Test func `Has no sections when there is a key path but no object`() throws {
    let fixture = try ControllerFixture(.sqlite, sections: "name")
    fixture.context.performAndWait { #expect(fixture.controller.sections?.isEmpty == true) }
  }

  @Test(arguments: Setting.allCases)
  func `Announces every kind of change with its index paths`(_ setting: Setting) throws {
    let fixture = try ControllerFixture(setting, ["b", "d"])
    try fixture.context.performAndWait {
      let context = fixture.context
      context.insert("Author", ["name": "c"])
      context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "insert - 0.1", "did"])
      try fixture.author("d").setValue(40, forKey: "age")
      context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "update 0.2 0.2", "did"])
      try fixture.author("b").setValue("e", forKey: "name")
      context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "move 0.0 0.2", "did"])
      context.delete(try fixture.author("c"))
      context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "delete 0.0 -", "did"])
      #expect(fixture.names == ["d", "e"])
    }
  }

  @Test func `One round of mixed changes is announced as one`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "c", "e", "g"])
    try fixture.context.performAndWait {
      fixture.context.delete(try fixture.author("a"))
      fixture.context.insert("Author", ["name": "b"])
      fixture.context.insert("Author", ["name": "d"])
      try fixture.author("c").setValue(20, forKey: "age")
      try fixture.author("e").setValue(20, forKey: "age")
      try fixture.author("g").setValue("0", forKey: "name")
      fixture.context.processPendingChanges()
      #expect(
        fixture.delegate.calls == [
          "will", "delete 0.0 -", "insert - 0.1", "insert - 0.3", "move 0.3 0.0", "update 0.1 0.2",
          "update 0.2 0.4", "did",
        ])
      #expect(fixture.delegate.duringCalls.allSatisfy { $0 == 5 })
      #expect(fixture.names == ["0", "b", "c", "d", "e"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `An object enters and leaves as it matches the predicate`(_ setting: Setting)
    throws
  {
    let fixture = try ControllerFixture(setting, ["a", "b"], where: NSPredicate(format: "age < 30"))
    try fixture.context.performAndWait {
      let author = try fixture.author("a")
      author.setValue(50, forKey: "age")
      fixture.context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "delete 0.0 -", "did"])
      author.setValue(29, forKey: "age")
      fixture.context.processPendingChanges()
      #expect(fixture.delegate.take() == ["will", "insert - 0.0", "did"])
    }
  }

  @Test func `What does not concern the results is not announced`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a"], where: NSPredicate(format: "age < 30"))
    fixture.context.performAndWait {
      fixture.context.insert("Author", ["name": "old", "age": 90])
      fixture.context.insert("Tag", ["name": "t"])
      fixture.context.processPendingChanges()
      #expect(fixture.delegate.calls.isEmpty)
    }
  }

  @Test func `Renaming two sections into a third moves their objects`() throws {
    let fixture = try ControllerFixture(.sqlite, ["A", "B"], sections: "name")
    try fixture.context.performAndWait {
      try fixture.author("A").setValue("Z", forKey: "name")
      try fixture.author("B").setValue("Z", forKey: "name")
      fixture.context.processPendingChanges()
      #expect(
        fixture.delegate.calls == [
          "will", "section delete 0", "section delete 1", "section insert 0", "move 0.0 0.0", "move 1.0 0.1",
          "did",
        ]
          || fixture.delegate.calls == [
            "will", "section delete 0", "section delete 1", "section insert 0", "move 1.0 0.0",
            "move 0.0 0.1", "did",
          ])
      #expect(fixture.delegate.sections.map(\.name) == ["A", "B", "Z"])
      #expect(fixture.delegate.sections.map(\.title) == ["A", "B", "Z"])
      #expect(fixture.delegate.sections.map(\.count) == [0, 0, 2])
    }
  }

  @Test func `Index titles are the sections' capital initials`() throws {
    let fixture = try ControllerFixture(.sqlite, ["apple", "axe", "beet"], sections: "name")
    fixture.context.performAndWait {
      #expect(fixture.controller.sectionIndexTitles == ["A", "B"])
      #expect(fixture.controller.section(forSectionIndexTitle: "B", at: 1) == 2)
      #expect(fixture.controller.sections?[0].name == "apple")
    }
  }

  @Test func `A fetch fails if a section's objects are not adjacent`() throws {
    let stack = try TestStack(.sqlite)
    stack.context.performAndWait {
      stack.context.insert("Author", ["name": "a", "age": 1])
      stack.context.insert("Author", ["name": "b", "age": 2])
      stack.context.insert("Author", ["name": "c", "age": 1])
      let controller = NSFetchedResultsController(
        fetchRequest: ControllerFixture.request(nil, [NSSortDescriptor(key: "name", ascending: true)]),
        managedObjectContext: stack.context, sectionNameKeyPath: "age", cacheName: nil)
      let error = #expect(throws: CocoaError.self) { try controller.performFetch() }
      #expect(error?.code.rawValue == 134060)
    }
  }

  @Test func `Paths and objects lead to each other`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "b"], sections: "name")
    try fixture.context.performAndWait {
      let path = IndexPath(item: 0, section: 1)
      let object = fixture.controller.object(at: path)
      #expect(object.text("name") == "b")
      #expect(fixture.controller.indexPath(forObject: object) == path)
      let stranger = fixture.context.insert("Author", ["name": "x"])
      #expect(fixture.controller.indexPath(forObject: stranger) == nil)
      _ = try fixture.author("a")
    }
  }

  @Test func `refreshAllObjects yields updates only`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "b"])
    fixture.context.performAndWait {
      fixture.context.refreshAllObjects()
      #expect(fixture.delegate.calls == ["will", "update 0.0 0.0", "update 0.1 0.1", "did"])
    }
  }

  @Test func `A reset stops announcements until the next fetch`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a"])
    try fixture.context.performAndWait {
      fixture.context.reset()
      fixture.context.insert("Author", ["name": "b"])
      fixture.context.processPendingChanges()
      #expect(fixture.delegate.calls.isEmpty)
      try fixture.controller.performFetch()
      #expect(fixture.names == ["a", "b"])
    }
  }

  @Test func `Rolling back reverts the results`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "b"])
    try fixture.context.performAndWait {
      fixture.context.insert("Author", ["name": "c"])
      fixture.context.delete(try fixture.author("a"))
      fixture.context.processPendingChanges()
      #expect(fixture.names == ["b", "c"])
      fixture.context.rollback()
      #expect(fixture.names == ["a", "b"])
    }
  }

  @Test func `A delegate that takes differences gets no other calls`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "b", "c"])
    let delegate = DifferenceDelegate()
    try fixture.context.performAndWait {
      fixture.controller.delegate = delegate
      let before = fixture.controller.fetchedObjects!.map(\.objectID)
      try fixture.author("a").setValue("d", forKey: "name")
      fixture.context.delete(try fixture.author("b"))
      fixture.context.insert("Author", ["name": "0"])
      fixture.context.processPendingChanges()
      #expect(delegate.others == 0)
      #expect(delegate.differences.count == 1)
      #expect(before.applying(delegate.differences[0]) == fixture.controller.fetchedObjects!.map(\.objectID))
    }
  }

  @Test func `A delegate's controller equals the program's own`() throws {
    final class Asker: NSObject, NSFetchedResultsControllerDelegate {
      var own: NSFetchedResultsController<NSManagedObject>?
      var answers: [Bool] = []
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        answers += [controller === own, controller == own, controller.isEqual(own), controller !== own]
      }
    }
    let fixture = try ControllerFixture(.sqlite, ["a"])
    let asker = Asker()
    asker.own = fixture.controller
    fixture.context.performAndWait {
      fixture.controller.delegate = asker
      fixture.context.insert("Author", ["name": "b"])
      fixture.context.processPendingChanges()
      #expect(asker.answers == [true, true, true, false])
    }
  }

  @Test func `A delegate that changes objects starts a new round`() throws {
    final class Meddler: NSObject, NSFetchedResultsControllerDelegate {
      var context: NSManagedObjectContext?
      var rounds = 0
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        rounds += 1
        guard rounds == 1 else { return }
        context?.insert("Author", ["name": "second"])
        context?.processPendingChanges()
      }
    }
    let fixture = try ControllerFixture(.sqlite, [])
    let meddler = Meddler()
    meddler.context = fixture.context
    fixture.context.performAndWait {
      fixture.controller.delegate = meddler
      fixture.context.insert("Author", ["name": "first"])
      fixture.context.processPendingChanges()
      #expect(meddler.rounds == 2)
      #expect(fixture.names == ["first", "second"])
    }
  }

  @Test(arguments: 0..<8)
  func `Random rounds of changes end with the fetched results`(_ seed: Int) throws {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let sort = [
      NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: true),
    ]
    let fixture = try ControllerFixture(
      .sqlite, [], sections: "age", where: NSPredicate(format: "age < 12"), sort: sort)
    try fixture.context.performAndWait {
      var authors: [NSManagedObject] = []
      for round in 0..<60 {
        for step in 0..<(1 + random(12)) {
          switch random(4) {
          case 0, 1:
            authors.append(
              fixture.context.insert("Author", ["name": "n\(round).\(step)", "age": random(16)]))
          case 2 where !authors.isEmpty: authors[random(authors.count)].setValue(random(16), forKey: "age")
          case 3 where !authors.isEmpty: fixture.context.delete(authors.remove(at: random(authors.count)))
          default: break
          }
        }
        fixture.context.processPendingChanges()
        if round % 7 == 0 { try fixture.context.save() }
        let fresh = try fixture.context.fetch(
          ControllerFixture.request(NSPredicate(format: "age < 12"), sort))
        #expect(fixture.controller.fetchedObjects == fresh)
        let sections = fixture.controller.sections!
        #expect(sections.flatMap { $0.objects as! [NSManagedObject] } == fresh)
        #expect(sections.allSatisfy { $0.numberOfObjects > 0 })
        #expect(Set(sections.map(\.name)).count == sections.count)
      }
    }
  }

  @Test func `a delegate is told by the same controller each time`() throws {
    final class Tellers: NSObject, NSFetchedResultsControllerDelegate {
      var all: [ObjectIdentifier] = []
      func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        all.append(ObjectIdentifier(controller))
      }
    }
    let fixture = try ControllerFixture(.memory, ["a"])
    let tellers = Tellers()
    fixture.controller.delegate = tellers
    fixture.context.performAndWait {
      for name in ["b", "c"] {
        fixture.context.insert("Author", ["name": name])
        fixture.context.processPendingChanges()
      }
    }
    #expect(tellers.all.count == 2)
    #expect(Set(tellers.all).count == 1)
  }
}
