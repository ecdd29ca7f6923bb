import CoreData
import Foundation

/// The list, with the operations that an app's screens and a tool need.
@MainActor public final class ChecklistStore {
  private let _container: NSPersistentContainer

  /// The context for views, and for `@FetchRequest`.
  public var viewContext: NSManagedObjectContext { _container.viewContext }

  /// The model is a resource of the package, and is read once.
  private static let _model = Bundle.module.url(forResource: "Checklist", withExtension: "momd")
    .flatMap(NSManagedObjectModel.init(contentsOf:))

  /// Thrown if the package's resources are missing.
  public struct ModelIsMissing: Error {}

  /// Opens the store, creating it if necessary.
  ///
  /// - Parameter url: Its location; nil for the user's application support directory.
  public init(at url: URL? = nil) throws {
    guard let model = Self._model else { throw ModelIsMissing() }
    _container = NSPersistentContainer(name: "Checklist", managedObjectModel: model)
    if let url { _container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)] }
    var failure: (any Error)?
    _container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    viewContext.automaticallyMergesChangesFromParent = true
  }

  /// A request for all items in their order.
  public static var all: NSFetchRequest<Item> {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "position", ascending: true)]
    return request
  }

  /// Adds an item at the end of the list.
  public func add(_ text: String) throws {
    let count = try viewContext.count(for: Self.all)
    let item = Item(context: viewContext)
    item.text = text
    item.position = Int32(count)
    try viewContext.save()
  }

  /// Marks the items with this text as done.
  ///
  /// - Returns: The number of items.
  public func finish(_ text: String) throws -> Int {
    let request = Self.all
    request.predicate = NSPredicate(format: "text ==[c] %@ AND done == nil", text)
    let items = try viewContext.fetch(request)
    for item in items { item.done = Date() }
    try viewContext.save()
    return items.count
  }
}
