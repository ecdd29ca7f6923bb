import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreDataPostgreSQL

/// Contexts of one coordinator save side by side: a slow save does not block the others.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct SideBySideTests {
  private func _save(_ name: String, _ stack: ServerStack) throws {
    let context = stack.context()
    try context.performAndWait {
      context.make("Company", ["name": name])
      try context.save()
    }
  }

  @Test func `a save ends while another one of the coordinator waits for a lock`() throws {
    let stack = try ServerStack()
    try _save("held", stack)
    let session = try ServerSession(stack)
    try session.connection.execute("BEGIN")
    try session.connection.execute("SELECT 1 FROM \(session.schema).company FOR UPDATE")
    let problems = Mutex<[String]>([])
    let slow = Thread {
      let context = stack.context()
      do {
        try context.performAndWait {
          try context.all("Company", "name == 'held'").first?.setValue("changed", forKey: "name")
          try context.save()
        }
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    slow.start()
    let monitor = try ServerSession(stack)
    try #expect(
      monitor.waits {
        try $0.number(
          "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = $1::text", "transactionid") > 0
      })
    for number in 0..<5 { try _save("\(number)", stack) }
    #expect(!slow.isFinished)
    try session.connection.execute("COMMIT")
    try slow.join()
    #expect(problems.withLock { $0 } == [])
    let context = stack.context()
    let names = try context.performAndWait { try context.texts("Company", "name") }
    #expect(names == ["0", "1", "2", "3", "4", "changed"])
  }

  @Test func `contexts that merge saves made side by side show what is stored`() throws {
    let stack = try ServerStack()
    let count = 12
    let first = stack.context()
    try first.performAndWait {
      for number in 0..<count {
        first.make("Company", ["name": "\(number)"])
      }
      try first.save()
    }
    let watcher = stack.context()
    watcher.automaticallyMergesChangesFromParent = true
    let watched = try watcher.performAndWait {
      let found = try watcher.all("Company")
      for object in found { _ = object.value(forKey: "name") }
      return found
    }
    let threads = (0..<6).map { thread in
      Thread {
        var random = SystemRandomNumberGenerator()
        for round in 0..<40 {
          let context = stack.context(.mergeByPropertyObjectTrump)
          context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Company")
            guard let found = try? context.fetch(request), !found.isEmpty else { return }
            let object = found.randomElement(using: &random)!
            switch Int.random(in: 0..<8, using: &random) {
            case 0: context.delete(object)
            case 1: context.make("Company", ["name": "new \(thread) \(round)"])
            default: object.setValue("\(thread) \(round)", forKey: "name")
            }
            try? context.save()
          }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    let fresh = try ServerStack(at: stack.url).context()
    let stored = try fresh.performAndWait {
      Dictionary(
        uniqueKeysWithValues: try fresh.all("Company").map {
          ($0.objectID.uriRepresentation(), $0.value(forKey: "name") as? String)
        })
    }
    watcher.performAndWait {
      for object in watched {
        let id = object.objectID.uriRepresentation()
        if object.isDeleted || object.managedObjectContext == nil {
          #expect(stored[id] == nil)
        } else {
          #expect(stored[id] == object.value(forKey: "name") as? String)
        }
      }
    }
    // So do contexts that read what the coordinator keeps.
    let late = stack.context()
    try late.performAndWait {
      for object in try late.all("Company") {
        #expect(stored[object.objectID.uriRepresentation()] == object.value(forKey: "name") as? String)
      }
    }
  }
}
