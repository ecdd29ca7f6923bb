import CoreData
import CoreDataStacks
import Foundation
import Testing

/// A worker that stays sees what another worker has saved, in stacks whose workers are side by side. A child of main
/// reads again, as in Core Data.
@Suite("What workers see of each other", .serialized)
struct WorkerMergeTests {
  @Test(arguments: [StackPattern.shared, .sharedStore])
  func `a kept worker merges the save of another`(_ pattern: StackPattern) async throws {
    let directory = try StoreDirectory()
    let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(directory.store))
    let (writer, reader) = (stack.newWorkerContext(), stack.newWorkerContext())
    let id = try await writer.perform {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: writer)
      book.setValue("first", forKey: "title")
      try writer.obtainPermanentIDs(for: [book])
      return book.objectID
    }
    try await stack.save(writer)
    await stack.waitUntilIdle()
    // Held, so that the value is that of this object and not of a fresh one.
    nonisolated(unsafe) var held: NSManagedObject?
    let before = try await reader.perform {
      held = try reader.existingObject(with: id)
      return held?.value(forKey: "title") as? String
    }
    #expect(before == "first")
    try await writer.perform {
      try writer.existingObject(with: id).setValue("second", forKey: "title")
    }
    try await stack.save(writer)
    await stack.waitUntilIdle()
    let after = await reader.perform { held?.value(forKey: "title") as? String }
    #expect(after == "second")
    await reader.perform { held = nil }
  }
}
