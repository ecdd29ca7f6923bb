// A second process, used by tests, with a Core Data stack on the store of a SwiftData container. Loads the
// model from the store. Answers each line of its standard input with a line.
//
//   add TITLE   inserts a volume and saves
//   titles      the volumes' titles
//   authors     the authors of the history's transactions

import CoreData

let place = URL(fileURLWithPath: CommandLine.arguments[1])
let model = try NSManagedObjectModel.load(fromStoreAt: place)
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
try coordinator.addPersistentStore(
  ofType: NSSQLiteStoreType, configurationName: nil, at: place,
  options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
let context = NSManagedObjectContext(.privateQueue)
context.persistentStoreCoordinator = coordinator
context.transactionAuthor = "neighbor"

func answer(_ words: [String]) throws -> String {
  switch words.first {
  case "add":
    let shelf = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first
    let volume = NSEntityDescription.insertNewObject(forEntityName: "Volume", into: context)
    volume.setValue(words[1], forKey: "title")
    volume.setValue(2, forKey: "pages")
    volume.setValue(["kind": "novel"], forKey: "kind")
    volume.setValue(["width": 1.0, "height": 2.0, "fold": ["count": 2]] as [String: Any], forKey: "size")
    volume.setValue(Data("[]".utf8), forKey: "tags")
    volume.setValue(Data("{}".utf8), forKey: "marks")
    volume.setValue(shelf, forKey: "shelf")
    try context.save()
    return "added"
  case "titles":
    context.refreshAllObjects()
    let volumes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Volume"))
    return volumes.compactMap { $0.value(forKey: "title") as? String }.sorted().joined(separator: " ")
  case "authors":
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
    return transactions.map { $0.author ?? "-" }.joined(separator: " ")
  default: return "unknown"
  }
}

while let line = readLine() {
  let words = line.split(separator: " ").map(String.init)
  print(try context.performAndWait { try answer(words) })
  fflush(nil)
}
