// Blocks of a program written for Apple's SDK that capture non-Sendable values. They compile in both language
// modes, with warnings at most: Scripts/check client-sources.
import CoreData
import Foundation

/// A class of the program; not Sendable.
final class Report {
  var lines: [String] = []
}

func fill(_ report: Report, _ object: NSManagedObject, in context: NSManagedObjectContext) {
  context.perform {
    report.lines.append(object.entity.name ?? "")
    object.setValue("seen", forKey: "state")
  }
  context.performAndWait { report.lines.append("waited") }
}

func fillLater(_ report: Report, in context: NSManagedObjectContext) async throws -> Int {
  try await context.perform(schedule: .enqueued) {
    report.lines.append("enqueued")
    try context.save()
  }
  return await context.perform { report.lines.count }
}

func fill(_ report: Report, in container: NSPersistentContainer) {
  var names: [String] = []
  container.performBackgroundTask { context in
    names.append(context.name ?? "")
    report.lines.append("background")
  }
  container.persistentStoreCoordinator.perform { report.lines.append("coordinator") }
  container.loadPersistentStores { _, error in
    if let error { report.lines.append("\(error)") }
  }
}

func fillLater(_ report: Report, in container: NSPersistentContainer) async -> Int {
  await container.performBackgroundTask { _ in report.lines.count }
}

/// Passes on a block that is not Sendable.
func onQueue(of context: NSManagedObjectContext, _ block: @escaping () -> Void) {
  context.perform(block)
}

func onQueue<T>(of context: NSManagedObjectContext, _ block: @escaping () throws -> T) async throws -> T {
  try await context.perform(schedule: .immediate, block)
}
