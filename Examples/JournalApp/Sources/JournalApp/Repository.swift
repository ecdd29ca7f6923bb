import CoreData
import Foundation

/// An entity that a repository supports.
protocol Storable: NSManagedObject {
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Note: Storable {
  static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: "heading", ascending: true)]
  }
}

extension Folder: Storable {
  static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "name", ascending: true)] }
}

extension Tag: Storable {
  static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "key", ascending: true)] }
}

/// Objects of one entity, in one context.
struct Repository<T: Storable> {
  let context: NSManagedObjectContext

  func insert(_ configure: (T) -> Void = { _ in }) -> T {
    let object = T(context: context)
    configure(object)
    return object
  }

  func all(where predicate: NSPredicate? = nil) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: T.entity().name!)
    request.predicate = predicate
    request.sortDescriptors = T.defaultSortDescriptors
    return try context.fetch(request)
  }

  func count() throws -> Int { try context.count(for: NSFetchRequest<T>(entityName: T.entity().name!)) }

  func save() throws {
    guard context.hasChanges else { return }
    try context.save()
  }
}
