// A new version of the program opens the store of an old version: an attribute renamed, one removed, one
// added with a default, one widened, a new entity. Keeping the old version in the model is all that is
// required. 'coredata store migrate STORE --to Contacts.xcdatamodeld --plan' shows beforehand what happens.
//
//   swift run Upgrade

import CoreData
import Foundation

let directory = FileManager.default.temporaryDirectory.appendingPathComponent("upgrade-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: directory) }
let store = directory.appendingPathComponent("Contacts.sqlite")

/// Writes the store of the old version.
func writeOldStore() throws {
  let file = Bundle.module.url(forResource: "Contacts", withExtension: "mom", subdirectory: "Contacts.momd")!
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(contentsOf: file)!)
  let added = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: store, options: nil)
  let context = NSManagedObjectContext(.privateQueue)
  context.persistentStoreCoordinator = coordinator
  try context.performAndWait {
    for (name, visits) in [("Ada Lovelace", 3), ("Alan Turing", 32_767)] {
      let contact = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
      contact.setValue(name, forKey: "fullName")
      contact.setValue(visits, forKey: "visits")
      contact.setValue("030 12345", forKey: "fax")
    }
    try context.save()
  }
  try coordinator.remove(added)
}

try writeOldStore()

// The new version: a container migrates an older store when it loads it.
let container = NSPersistentContainer(name: "Contacts")
container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
container.loadPersistentStores { _, error in
  if let error { fatalError("\(error)") }
}
let context = container.viewContext
let request = NSFetchRequest<Contact>(entityName: "Contact")
request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
for contact in try context.fetch(request) {
  contact.visits += 1
  contact.isFavourite = contact.visits > 1000
  let note = Note(context: context)
  note.text = "Was here again."
  note.contact = contact
}
try context.save()
for contact in try context.fetch(request) {
  print("\(contact.name ?? ""): \(contact.visits) visits\(contact.isFavourite ? ", a favourite" : "")")
}
let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store)
print("Version: \(metadata[NSStoreModelVersionIdentifiersKey] ?? "none")")
