// An edit screen with a scratch-pad context: Save keeps all changes, Cancel discards them, and the list never
// shows incomplete objects.
//
//   swift run EditScreen

import CoreData
import CoreDataStacks
import Foundation

/// Prints the changes that the list is notified of.
final class ChangePrinter: FetchedResultsControllerDelegate {
  typealias T = Contact

  func fetchedResultsController(
    _ controller: FetchedResultsController<Contact>,
    didChangeObject change: FetchedResultsObjectChange<Contact>
  ) {
    switch change {
    case .insert: print("  the list changes: an insertion")
    case .delete: print("  the list changes: a deletion")
    case .move: print("  the list changes: a move")
    case .update: print("  the list changes: an update")
    }
  }
}

@MainActor func run() async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("Contacts-\(UUID())")
  defer { try? FileManager.default.removeItem(at: directory) }
  let stack = try await StackPattern.nested3.makeStack(
    model: Bundle.main.managedObjectModel(name: "Contacts"),
    at: .file(directory.appendingPathComponent("Contacts.sqlite")))

  let request = NSFetchRequest<Contact>(entityName: "Contact")
  request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
  let list = FetchedResultsController(fetchRequest: request, managedObjectContext: stack.mainContext)
  let printer = ChangePrinter()
  list.setDelegate(printer)
  try list.performFetch()

  func show(_ when: String) {
    print("\(when): the list shows \(list.fetchedObjects?.compactMap(\.name) ?? [])")
  }
  show("At first")

  let first = ScratchPad<Contact>(inserting: "Contact", in: stack.mainContext)
  show("While a contact is being entered")
  do {
    try first.save()
  } catch {
    print("Save without a name is refused: \(error.localizedDescription)")
  }
  first.object.name = "Ada Lovelace"
  try await first.saveToStore()
  show("After Save")

  let second = ScratchPad<Contact>(inserting: "Contact", in: stack.mainContext)
  second.object.name = "A mistake"
  second.cancel()
  show("After Cancel of another")

  let third = try ScratchPad(editing: list.fetchedObjects![0])
  third.object.name = "Augusta Ada King"
  show("While it is being edited")
  try await third.saveToStore()
  show("After Save of the edit")
}

try await run()
