import CoreData
import Foundation

/// Creates the stores for the explorer's trials.
enum TrialStores {
  /// Many tracks, created by batch insertion; five hundred belong to an album. Without a history, which would
  /// have as many rows again.
  static func million(at path: String, count: Int) throws {
    let context = try TrialModel.open(path, TrialModel.music, keepsHistory: false)
    try context.performAndWait {
      let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
      album.setValue("The only album", forKey: "title")
      try context.save()
      var number = 0
      let request = NSBatchInsertRequest(
        entityName: "Track",
        dictionaryHandler: { row in
          number += 1
          guard number <= count else { return true }
          row["title"] = "Track \(String(number, radix: 36)) of \(number % 977)"
          row["artist"] = "Artist \(number % 5003)"
          row["plays"] = number % 10_007
          row["seconds"] = Double(number % 600) + 0.25
          row["added"] = Date(timeIntervalSinceReferenceDate: Double(number) * 60)
          return false
        })
      _ = try context.execute(request)
      let some = NSFetchRequest<NSManagedObject>(entityName: "Track")
      some.fetchLimit = 500
      some.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
      for track in try context.fetch(some) { track.setValue(album, forKey: "album") }
      try context.save()
    }
  }

  /// Authors and books with a history, to be edited.
  static func library(at path: String) throws {
    let context = try TrialModel.open(path, TrialModel.library)
    try context.performAndWait {
      context.transactionAuthor = "trials"
      for (name, titles) in [
        ("Anna Seghers", ["Transit", "Das siebte Kreuz"]), ("Joseph Roth", ["Hiob", "Radetzkymarsch"]),
        ("Irmgard Keun", ["Gilgi, eine von uns"]),
      ] {
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        for title in titles {
          let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
          book.setValue(title, forKey: "title")
          book.setValue(title.count * 17, forKey: "pages")
          book.setValue(author, forKey: "author")
        }
        try context.save()
      }
    }
  }

  /// Entities, properties and values whose names are markup.
  static func hostile(at path: String) throws {
    let context = try TrialModel.open(path, TrialModel.hostile)
    try context.performAndWait {
      for attack in TrialModel.attacks {
        let object = NSEntityDescription.insertNewObject(
          forEntityName: TrialModel.hostileEntity, into: context)
        for name in object.entity.attributesByName.keys {
          object.setValue(name.hasSuffix("bytes") ? Data(attack.utf8) as Any : attack, forKey: name)
        }
        context.transactionAuthor = attack
        try context.save()
      }
    }
  }
}

/// Writes to a store as another program would, with the model in the store.
struct TrialWriter {
  private let _context: NSManagedObjectContext

  init(_ path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { throw CocoaError(.fileNoSuchFile) }
    _context = try TrialModel.open(path, TrialModel.library)
    _context.transactionAuthor = "another program"
  }

  func add(_ entity: String, _ values: [String: String]) throws {
    try _context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: _context)
      for (key, value) in values { object.setValue(value, forKey: key) }
      try _context.save()
    }
  }

  func set(_ entity: String, _ number: String, _ key: String, _ value: String) throws {
    try _context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      let all = try _context.fetch(request)
      guard
        let object = all.first(where: { $0.objectID.uriRepresentation().lastPathComponent == "p\(number)" })
      else {
        throw CocoaError(.fileNoSuchFile)
      }
      object.setValue(value, forKey: key)
      try _context.save()
    }
  }
}
