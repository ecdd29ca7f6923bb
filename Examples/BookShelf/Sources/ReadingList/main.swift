import CoreData
import Foundation

// The model is declared as a resource, as in packages written for Apple's platforms. The plugin then leaves
// it to the package manager, and it is still found by name.

let container = NSPersistentContainer(name: "Reading")
let description = NSPersistentStoreDescription()
description.type = NSInMemoryStoreType
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in
  if let error { fatalError("\(error)") }
}
let context = container.viewContext

for title in ["Middlemarch", "Emma", "Persuasion"] {
  let item = Item(context: context)
  item.title = title
  item.isRead = title == "Emma"
}
try context.save()

let model = container.managedObjectModel
guard let unread = model.fetchRequestTemplate(forName: "unread") else {
  fatalError("the template is in the model")
}
let items = try context.fetch(unread).compactMap { $0 as? Item }
print("To read: \(items.compactMap(\.title).sorted().joined(separator: ", "))")
let version = model.versionIdentifiers.map { "\($0)" }.joined()
print("Model version \(version), configurations \(model.configurations.joined(separator: ", "))")
