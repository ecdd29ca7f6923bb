import CoreData
import Foundation

#if canImport(Darwin)
/// Apple's Core Data does not tell of its statements.
struct StatementCount: Sendable {
  func attach(to description: NSPersistentStoreDescription) {}
}
#else
/// The SQL statements of a test's stores.
struct StatementCount: Sendable {
  private let _counter = StatementCounter()

  var count: Int { _counter.count }

  func attach(to description: NSPersistentStoreDescription) {
    description.setOption(_counter, forKey: StatementCounter.option)
  }
}
#endif
