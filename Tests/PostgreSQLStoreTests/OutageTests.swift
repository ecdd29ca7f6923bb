import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct OutageTests {
  @Test func `no acknowledged save is lost or doubled by outages`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let url = server.newURL()
    _ = try ServerStack(at: url)
    let acknowledged = Mutex<Set<String>>([])
    let refused = Mutex<Set<String>>([])
    let isOver = Atomic<Bool>(false)
    // No saver opens its store while the server restarts.
    let isReady = DispatchSemaphore(value: 0)
    let savers = (0..<3).map { saver in
      Thread {
        let opened = try? ServerStack(at: url)
        isReady.signal()
        guard let stack = opened else {
          Issue.record("no store for saver \(saver)")
          return
        }
        let context = stack.context()
        var number = 0
        while !isOver.load(ordering: .relaxed) {
          number += 1
          let name = "\(saver) \(number)"
          context.performAndWait {
            context.make("Company", ["name": name])
            do {
              try context.save()
              acknowledged.withLock { _ = $0.insert(name) }
            } catch {
              // The save must be absent, unless the error says that the outcome is unknown.
              if (error as? CocoaError)?.code.rawValue != NSPersistentStoreSaveError {
                refused.withLock { _ = $0.insert(name) }
              }
              context.rollback()
              usleep(20_000)
            }
          }
        }
      }
    }
    for saver in savers { saver.start() }
    for _ in savers { try #require(isReady.wait(timeout: .now() + 120) == .success) }
    for _ in 0..<8 {
      usleep(300_000)
      try server.restart()
    }
    usleep(300_000)
    isOver.store(true, ordering: .relaxed)
    for saver in savers { try saver.join() }
    let fresh = try ServerStack(at: url).context()
    let names = try fresh.performAndWait { try fresh.texts("Company", "name") }
    #expect(Set(names).count == names.count, "no save is there twice")
    #expect(acknowledged.withLock { $0 }.subtracting(names).isEmpty, "every acknowledged save is there")
    #expect(
      refused.withLock { $0 }.intersection(names).isEmpty, "no save is there that was said to have failed")
    #expect(acknowledged.withLock { $0 }.count > 50)
  }
}
