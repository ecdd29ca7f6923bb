import CoreData
import Foundation

/// What users see of one context: two lists behind fetched results controllers, and a mirror that is built
/// only from change notifications. Used on the context's queue.
final class LiveScreen: @unchecked Sendable {
  // Unchecked: used on the context's queue only.
  /// How the delegates of a screen are told of changes.
  struct Lists {
    let authors: any LiveList.Type
    let books: any LiveList.Type
  }

  private struct Shown {
    let controller: NSFetchedResultsController<NSManagedObject>
    let list: any LiveList
    /// The attributes that order the rows.
    let keys: [String]
  }

  /// An object of the mirror, with its attributes when they were last announced.
  private struct Reflection {
    let object: NSManagedObject
    var values: String
  }

  let context: SoakContext
  private let _shown: [Shown]
  private var _mirror: [ObjectIdentifier: Reflection] = [:]
  /// What was announced of each object, and after which step, for the report of a failure.
  private var _announced: [NSManagedObjectID: [String]] = [:]
  private let _journal: SoakJournal
  private var _token: (any NSObjectProtocol)?

  /// Opens the screen in a context without objects.
  init(_ context: SoakContext, _ lists: Lists, _ journal: SoakJournal) throws {
    self.context = context
    _journal = journal
    _shown = try context.performAndWait {
      [
        try Self._show(lists.authors, "Author", by: ["age", "name"], sections: "age", in: context),
        try Self._show(
          lists.books, "Book", by: ["pages", "title"], where: NSPredicate(format: "pages < 30"), in: context),
      ]
    }
    _token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { [unowned self] in _reflect($0) }
  }

  deinit { if let _token { NotificationCenter.default.removeObserver(_token) } }

  private static func _show(
    _ list: any LiveList.Type, _ entity: String, by keys: [String], where predicate: NSPredicate? = nil,
    sections: String? = nil, in context: NSManagedObjectContext
  ) throws -> Shown {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    try controller.performFetch()
    let list = list.init(controller)
    controller.delegate = list
    return Shown(controller: controller, list: list, keys: keys)
  }

  private func _reflect(_ notification: Notification) {
    func objects(_ key: String) -> Set<NSManagedObject> {
      notification.userInfo?[key] as? Set<NSManagedObject> ?? []
    }
    for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey] {
      for object in objects(key) {
        _announced[object.objectID, default: []].append("\(key) \(_journal.step)")
      }
    }
    for object in objects(NSInsertedObjectsKey) {
      _mirror[ObjectIdentifier(object)] = Reflection(object: object, values: LiveView.attributes(of: object))
    }
    for object in objects(NSUpdatedObjectsKey).union(objects(NSRefreshedObjectsKey)) {
      _mirror[ObjectIdentifier(object)]?.values = LiveView.attributes(of: object)
    }
    for object in objects(NSDeletedObjectsKey) { _mirror[ObjectIdentifier(object)] = nil }
  }

  // MARK: Checks

  /// Returns rows of objects that are gone, and lists that differ from their controllers. Changes must have
  /// been processed.
  func flaws() -> [String] {
    var flaws: [String] = []
    func check(_ objects: [NSManagedObject], _ place: String) {
      for object in objects where object.isDeleted || object.managedObjectContext == nil {
        flaws.append(
          "\(place) has \(LiveView.name(object)), which is \(object.isDeleted ? "deleted" : "gone")")
      }
    }
    for shown in _shown {
      let entity = shown.controller.fetchRequest.entityName!
      check(shown.controller.fetchedObjects ?? [], "the controller of \(entity)")
      flaws += shown.list.contradictions.map { "the list of \(entity) is told of \($0)" }
      if shown.list.rows != shown.controller.rows {
        flaws.append(
          "the list of \(entity) has \(LiveView.names(shown.list.rows)), the controller \(LiveView.names(shown.controller.rows))"
        )
      }
    }
    check(_mirror.values.map(\.object), "the mirror")
    return flaws
  }

  /// Returns what differs from the context, which has no unsaved changes and has merged everything.
  func differences() throws -> [String] {
    var differences = flaws()
    for shown in _shown { differences += try _differences(shown) }
    var missing = Set(_mirror.keys)
    for (entity, _) in GraphView.labels {
      for object in try context.all(entity) {
        let name = LiveView.name(object), values = LiveView.attributes(of: object)
        guard missing.remove(ObjectIdentifier(object)) != nil else {
          let announced = _announced[object.objectID] ?? []
          differences.append("the mirror lacks \(name), announced: \(announced.joined(separator: ", "))")
          continue
        }
        let reflected = _mirror[ObjectIdentifier(object)]!.values
        if reflected != values { differences.append("the mirror shows \(reflected), not \(values)") }
      }
    }
    differences += missing.map { "the mirror has \(_mirror[$0]!.values), which is not there" }.sorted()
    return differences
  }

  private func _differences(_ shown: Shown) throws -> [String] {
    let controller = shown.controller
    let entity = controller.fetchRequest.entityName!
    let fetched = try context.fetch(controller.fetchRequest), objects = controller.fetchedObjects ?? []
    func order(_ object: NSManagedObject) -> [String] {
      shown.keys.map { object.value(forKey: $0).map { "\($0)" } ?? "nil" }
    }
    // Objects with equal keys may be in any order.
    if Set(fetched) != Set(objects) || fetched.map(order) != objects.map(order) {
      return [
        "the controller of \(entity) has \(LiveView.names([objects])), a fetch \(LiveView.names([fetched]))"
      ]
    }
    guard let key = controller.sectionNameKeyPath else { return [] }
    return (controller.sections ?? []).flatMap { section -> [String] in
      let names = Set(
        (section.objects as? [NSManagedObject] ?? []).map { "\($0.value(forKey: key) ?? "nil")" })
      return names == [section.name] ? [] : ["section \(section.name) of \(entity) has \(names.sorted())"]
    }
  }
}
