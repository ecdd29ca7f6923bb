import CoreData
import Foundation

// Creates a store with version 1 of the model, migrates it through all ten versions, and works with it.

let directory = FileManager.default.temporaryDirectory.appendingPathComponent("journal-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: directory) }

let catalogue = try ModelCatalogue(named: "Journal", in: .module)
let store = directory.appendingPathComponent("Journal.sqlite")

/// Writes a store as the first version of the application did.
func writeFirstVersion(of model: NSManagedObjectModel, to store: URL) throws {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  let added = try coordinator.addPersistentStore(
    ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
  let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  try context.performAndWait {
    let folder = NSManagedObject(
      entity: NSEntityDescription.entity(forEntityName: "Folder", in: context)!, insertInto: context)
    folder.setValue("Walks", forKey: "name")
    for (title, stars) in [("Lake: at dawn", 5), ("Hill", 3)] {
      let note = NSManagedObject(
        entity: NSEntityDescription.entity(forEntityName: "Note", in: context)!, insertInto: context)
      note.setValue(title, forKey: "title")
      note.setValue(stars, forKey: "stars")
      note.setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "created")
      note.setValue(folder, forKey: "folder")
    }
    try context.save()
  }
  try coordinator.remove(added)
}

try writeFirstVersion(of: catalogue.versions[0].model, to: store)
let path = try IterativeMigrator(catalogue: catalogue).migrate(store)
print("Migrated: \(path.joined(separator: " > "))")

// The model directory itself loads as the current version.
let current = NSManagedObjectModel(
  contentsOf: Bundle.module.url(forResource: "Journal", withExtension: "momd")!)!
print("Current version: \(catalogue.versions.first { $0.model.isEqual(current) }?.name ?? "none")")
let container = NSPersistentContainer(name: "Journal", managedObjectModel: current)
let description = NSPersistentStoreDescription(url: store)
description.shouldMigrateStoreAutomatically = false
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }

let context = ImmediateContext(concurrencyType: .privateQueueConcurrencyType)
context.persistentStoreCoordinator = container.persistentStoreCoordinator
try context.performAndWait {
  let notes = Repository<Note>(context: context)
  let folders = Repository<Folder>(context: context)
  for note in try notes.all() {
    print("\(note.displayTitle), \(note.stars) stars, in \(note.folder?.name ?? "no folder")")
  }
  // An empty folder is saved: its mandatory notes have no minimum count.
  _ = folders.insert { $0.name = "Recipes" }
  let tag = Repository<Tag>(context: context).insert { $0.key = "nature" }
  let lake = try notes.all(where: NSPredicate(format: "heading == %@", "Lake"))[0]
  lake.addToTags([tag])
  try notes.save()
  // The object was changed after it was fetched: the mandatory transient attribute does not prevent the save.
  context.refresh(lake, mergeChanges: false)
  lake.stars = 4
  try notes.save()
  print("\(try folders.count()) folders; tags of the lake: \(lake.tags.compactMap(\.key).joined())")
  print("Kind of the folders: \(Set(try folders.all().map(\.kind)))")
}
context.perform {
  let deleted = try? Repository<Folder>(context: context).all(where: NSPredicate(format: "notes.@count == 0"))
  print("Empty folders: \(deleted?.compactMap(\.name) ?? [])")
}

let failing = FailingContext(concurrencyType: .privateQueueConcurrencyType)
failing.persistentStoreCoordinator = container.persistentStoreCoordinator
failing.performAndWait {
  let notes = Repository<Note>(context: failing)
  let found = (try? notes.all().count) ?? 0
  do {
    try notes.save()
  } catch {
    print("A double that cannot save: \(error); \(found) notes in \(failing.fetchCount) fetch")
  }
}

let types = container.managedObjectModel.entitiesByName["Note"]!.attributesByName
print(types.keys.sorted().map { "\($0): \(types[$0]!.attributeType.label)" }.joined(separator: ", "))
try container.persistentStoreCoordinator.destroyPersistentStore(at: store, ofType: NSSQLiteStoreType)
