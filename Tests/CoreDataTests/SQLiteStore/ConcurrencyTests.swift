import CoreDataModelSchema
import CoreDataPredicateLanguage
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite struct StoreConcurrencyTests {
  @Test func `readers see whole commits while writers take turns`() throws {
    let fixture = try StoreFixture(Models.transit)
    let (engine, entity) = (fixture.engine, fixture.entity("Route"))
    let space = fixture.temporaryID("Route").space
    let torn = Atomic<Int>(0)
    let failed = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: 60) { iteration in
      do {
        if iteration % 2 == 0 {
          let pair = (0..<2).map { _ in
            ChangeSet.Insertion(
              id: NSManagedObjectID(temporaryIn: space), row: Row(count: entity.slots.count, version: 1))
          }
          try engine.commit(ChangeSet(inserted: pair))
        } else {
          if try engine.fetch(FetchPlan(layout: entity)).count % 2 != 0 { torn.add(1, ordering: .relaxed) }
        }
      } catch {
        failed.add(1, ordering: .relaxed)
      }
    }
    #expect(torn.load(ordering: .relaxed) == 0)
    #expect(failed.load(ordering: .relaxed) == 0)
    #expect(try fixture.keys("Route").sorted() == (1...60).map { $0 })
    #expect(engine.commitCount == 30)
  }
}
