import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct RelationshipTests {
  private func _titles(_ list: NSManagedObject) -> [String]? {
    (list.value(forKey: "tracks") as? NSOrderedSet)?.map {
      ($0 as! NSManagedObject).value(forKey: "title") as! String
    }
  }

  private func _count(_ object: NSManagedObject, _ key: String) -> Int? {
    (object.value(forKey: key) as? Set<NSManagedObject>)?.count
  }

  @Test func `relationships of all kinds are saved`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "A"])
      let people = (0..<3).map { context.make("Person", ["firstName": "p\($0)", "employer": company]) }
      let tags = (0..<3).map { context.make("Tag", ["name": "t\($0)"]) }
      people[0].setValue(Set(tags), forKey: "tags")
      people[1].setValue(Set([tags[2]]), forKey: "tags")
      let list = context.make("PlayList", ["title": "L"])
      let tracks = ["c", "a", "b"].map { context.make("Track", ["title": $0]) }
      list.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
      list.setValue(NSOrderedSet(array: [people[2], people[0]]), forKey: "fans")
      company.setValue(Set([context.make("Note", ["text": "n"])]), forKey: "notes")
      try context.save()
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait {
      let company = try #require(fresh.all("Company").first)
      #expect(_count(company, "staff") == 3)
      #expect(_count(company, "notes") == 1)
      let people = try fresh.all("Person", sortedBy: "firstName")
      #expect(_count(people[0], "tags") == 3)
      #expect(_count(people[1], "tags") == 1)
      let tag = try #require(fresh.all("Tag", "name == 't2'").first)
      #expect(_count(tag, "people") == 2)
      let list = try #require(fresh.all("PlayList").first)
      #expect(_titles(list) == ["c", "a", "b"])
      let fans = (list.value(forKey: "fans") as? NSOrderedSet)?.array as? [NSManagedObject]
      #expect(fans == [people[2], people[0]])
      // Moves one member and removes another.
      let tracks = (list.value(forKey: "tracks") as! NSOrderedSet).array
      list.setValue(NSOrderedSet(array: [tracks[2], tracks[0]]), forKey: "tracks")
      people[0].setValue(Set([tag]), forKey: "tags")
      try fresh.save()
    }
    let last = try ServerStack(at: stack.url).context()
    try last.performAndWait {
      let list = try #require(last.all("PlayList").first)
      #expect(_titles(list) == ["b", "c"])
      let person = try #require(last.all("Person", sortedBy: "firstName").first)
      #expect(_count(person, "tags") == 1)
    }
  }

  @Test func `objects move from SQLite and back with nothing lost`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let directory = try TemporaryPlace.makeDirectory()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let first = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("a.sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let company = context.make("Company", ["name": "A"])
      let list = context.make("PlayList", ["title": "L"])
      let people = (0..<40).map { number in
        context.make(
          number % 3 == 0 ? "Student" : "Person", ["firstName": "p\(number)", "employer": company])
      }
      list.setValue(NSOrderedSet(array: people.reversed()), forKey: "fans")
      try context.save()
      context.reset()
    }
    func state() throws -> [String] {
      try context.performAndWait {
        context.reset()
        let people = try context.all("Person", sortedBy: "firstName").map {
          "\($0.entity.name!) \($0.value(forKey: "firstName")!) \($0.value(forKeyPath: "employer.name")!)"
        }
        let list = try #require(context.all("PlayList").first)
        let fans = (list.value(forKey: "fans") as! NSOrderedSet).map {
          ($0 as! NSManagedObject).value(forKey: "firstName") as! String
        }
        return people + fans
      }
    }
    let before = try state()
    #expect(before.count == 80)
    let moved = try coordinator.migratePersistentStore(
      first, to: server.newURL(), options: nil, withType: NSPostgreSQLStoreType)
    try #expect(state() == before)
    try coordinator.migratePersistentStore(
      moved, to: directory.appendingPathComponent("b.sqlite"), options: nil, withType: NSSQLiteStoreType)
    try #expect(state() == before)
  }
}
