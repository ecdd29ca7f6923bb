// Three levels: a worker saves into main, main into the writer, the writer into the file. No manual merging.
//
//   swift run WriterMainWorker

import CoreData
import CoreDataStacks
import Foundation

/// Prints the context of each save that begins.
func printSaves(of stack: WriterMainWorkerStack) -> any NSObjectProtocol {
  NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: nil, queue: nil) {
    notification in
    switch notification.object as? NSManagedObjectContext {
    case stack.mainContext?: print("  main saves into the writer")
    case stack.writerContext?: print("  the writer saves into the file, which ends it")
    default: print("  a worker saves into main")
    }
  }
}

@MainActor func run() async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("Notes-\(UUID())")
  defer { try? FileManager.default.removeItem(at: directory) }
  let coordinator = try await NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(
    Bundle.main.managedObjectModel(name: "Notes"),
    storeFileURL: directory.appendingPathComponent("Notes.sqlite"))
  let stack = WriterMainWorkerStack(coordinator)
  let main = stack.mainContext
  let token = printSaves(of: stack)
  defer { NotificationCenter.default.removeObserver(token) }

  for number in 1...3 {
    // Spawned on main; main is briefly busy while it accepts the save, which a screen can show with the
    // progress.
    print("Record \(number)")
    let worker = stack.newWorkerContext()
    await worker.perform { Note(context: worker).text = "Record \(number)" }
    let progress = Progress(totalUnitCount: 0)
    try await stack.save(worker, progress: progress)
    let shown = try main.count(for: NSFetchRequest<Note>(entityName: "Note"))
    print("  \(progress.completedUnitCount) saves of \(progress.totalUnitCount); main shows \(shown) notes")
  }
}

try await run()
