// An edit screen on a scratch pad: Save keeps all, Cancel throws it away, the list never shows anything half-filled.
//
//   swift run EditScreen

import CoreData
import CoreDataStack
import Foundation

func contacts() -> NSManagedObjectModel {
  let contact = NSEntityDescription()
  contact.name = "Contact"
  contact.properties = ["name", "phone"].map { name in
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = .stringAttributeType
    attribute.isOptional = name == "phone"
    return attribute
  }
  let model = NSManagedObjectModel()
  model.entities = [contact]
  return model
}

@MainActor func run() async throws {
  let file = FileManager.default.temporaryDirectory.appendingPathComponent(
    "Contacts-\(UUID().uuidString).sqlite")
  defer { try? FileManager.default.removeItem(at: file) }
  let stack = try await StackPattern.nested3.makeStack(model: contacts(), at: .file(file))
  let main = stack.mainContext
  let request = NSFetchRequest<NSManagedObject>(entityName: "Contact")
  request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
  let list = FetchedResultsController(fetchRequest: request, managedObjectContext: main)
  try list.performFetch()
  let printer = RoundPrinter()
  list.setDelegate(printer)

  func show(_ what: String) {
    let names = (list.fetchedObjects ?? []).map { $0.value(forKey: "name") as? String ?? "(no name)" }
    print("\(what): the list shows \(names)")
  }

  show("At first")

  let first = ScratchPad<NSManagedObject>(inserting: "Contact", in: main)
  show("While a contact is being entered")
  do {
    try first.save()
  } catch {
    print("Save without a name is refused: \(error.localizedDescription)")
  }
  first.object.setValue("Ada Lovelace", forKey: "name")
  try first.save(toStore: true)
  show("After Save")

  let second = ScratchPad<NSManagedObject>(inserting: "Contact", in: main)
  second.object.setValue("A mistake", forKey: "name")
  second.cancel()
  show("After Cancel of another")

  let third = try ScratchPad(editing: list.fetchedObjects![0])
  third.object.setValue("Augusta Ada King", forKey: "name")
  show("While it is being edited")
  try third.save()
  show("After Save of the edit")
  try await stack.save(main)
}

/// Counts the rounds of changes that the list went through.
final class RoundPrinter: FetchedResultsControllerDelegate {
  typealias T = NSManagedObject
  func fetchedResultsController(
    _ controller: FetchedResultsController<NSManagedObject>,
    didChangeObject change: FetchedResultsObjectChange<NSManagedObject>
  ) { print("  the list changes: \(kind(change))") }
  func fetchedResultsController(
    _ controller: FetchedResultsController<NSManagedObject>,
    didChangeSection change: FetchedResultsSectionChange<NSManagedObject>
  ) {}
  func fetchedResultsControllerWillChangeContent(_ controller: FetchedResultsController<NSManagedObject>) {}
  func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<NSManagedObject>) {}
  func fetchedResultsControllerDidPerformFetch(_ controller: FetchedResultsController<NSManagedObject>) {}

  private func kind(_ change: FetchedResultsObjectChange<NSManagedObject>) -> String {
    switch change {
    case .insert: "an insertion"
    case .delete: "a deletion"
    case .move: "a move"
    case .update: "an update"
    }
  }
}

try await run()
