import CoreData
import Foundation

/// A managed object class that specifies its entity's name and gets shortcuts for common fetches.
///
/// ```swift
/// final class Magazine: NSManagedObject, CoreDataModelable {
///   static var entityName: String { "Magazine" }
/// }
/// let magazine = Magazine(managedObjectContext: context)
/// let count = try Magazine.countInContext(context)
/// ```
public protocol CoreDataModelable: NSFetchRequestResult {
  /// Name of the entity.
  static var entityName: String { get }
}

extension NSManagedObject {
  /// Creates and inserts an object of a `CoreDataModelable` class's entity, or of the class's only entity.
  ///
  /// Declared here rather than in the protocol, where Swift classes would need a `required` initializer for
  /// it.
  public convenience init(managedObjectContext context: NSManagedObjectContext) {
    self.init(entity: Self._modelledEntity(in: context), insertInto: context)
  }

  fileprivate static func _modelledEntity(in context: NSManagedObjectContext) -> NSEntityDescription {
    let name = (self as? any CoreDataModelable.Type)?.entityName
    guard let entity = name.map({ NSEntityDescription.entity(forEntityName: $0, in: context) }) ?? entity()
    else {
      preconditionFailure("the context's model has no entity '\(name ?? "")'")
    }
    return entity
  }
}

#if !canImport(ObjectiveC)
extension ManagedObjectCreation where Self: NSManagedObject {
  /// Creates an object of a class known only at run time: `T(managedObjectContext:)`.
  public init(managedObjectContext context: NSManagedObjectContext) {
    self.init(entity: Self._modelledEntity(in: context), insertInto: context)
  }
}
#endif

extension CoreDataModelable where Self: NSManagedObject {
  /// The entity in a context's model. Traps if the model lacks it.
  public static func entityDescription(in context: NSManagedObjectContext) -> NSEntityDescription {
    guard let entity = NSEntityDescription.entity(forEntityName: entityName, in: context) else {
      preconditionFailure("the context's model has no entity '\(entityName)'")
    }
    return entity
  }

  /// Returns a request for all objects of the entity.
  public static func fetchRequestForEntity(inContext context: NSManagedObjectContext) -> NSFetchRequest<Self>
  {
    EntityFetches<Self>(entityDescription(in: context)).request()
  }

  /// Returns an arbitrary object that satisfies the predicate; nil if there is none.
  ///
  /// ```swift
  /// let byISBN = NSPredicate(format: "isbn == %@", "9780141183534")
  /// let book = try Book.findFirstInContext(context, predicate: byISBN)
  /// ```
  ///
  /// - Throws: Errors of the fetch.
  public static func findFirstInContext(
    _ context: NSManagedObjectContext, predicate: NSPredicate? = nil
  ) throws -> Self? {
    try EntityFetches<Self>(entityDescription(in: context)).first(in: context, predicate)
  }

  /// Returns all objects that satisfy the predicate, in order.
  ///
  /// ```swift
  /// let byTitle = [NSSortDescriptor(key: "title", ascending: true)]
  /// let books = try Book.allInContext(context, sortDescriptors: byTitle)
  /// ```
  ///
  /// - Throws: Errors of the fetch.
  public static func allInContext(
    _ context: NSManagedObjectContext, predicate: NSPredicate? = nil,
    sortDescriptors: [NSSortDescriptor]? = nil
  ) throws -> [Self] {
    try EntityFetches<Self>(entityDescription(in: context)).all(in: context, predicate, sortDescriptors)
  }

  /// Returns the number of objects of exactly this entity that satisfy the predicate.
  ///
  /// - Throws: Errors of the fetch.
  public static func countInContext(_ context: NSManagedObjectContext, predicate: NSPredicate? = nil) throws
    -> Int
  {
    try EntityFetches<Self>(entityDescription(in: context)).count(in: context, predicate)
  }

  /// Deletes all objects of exactly this entity, without saving.
  ///
  /// ```swift
  /// try Tag.removeAllInContext(context)
  /// try context.save()
  /// ```
  ///
  /// - Throws: Errors of the fetch.
  public static func removeAllInContext(_ context: NSManagedObjectContext) throws {
    try EntityFetches<Self>(entityDescription(in: context)).remove(in: context, except: [])
  }

  /// Deletes all objects of exactly this entity except some, without saving.
  ///
  /// - Throws: Errors of the fetch.
  public static func removeAllInContext(_ context: NSManagedObjectContext, except toKeep: [Self]) throws {
    try EntityFetches<Self>(entityDescription(in: context)).remove(in: context, except: toKeep)
  }
}

extension NSFetchRequestResult where Self: NSManagedObject {
  /// Returns a request for all objects of this class's entity, in the context's model if it has it.
  public static func fetchRequestForEntity(inContext context: NSManagedObjectContext) -> NSFetchRequest<Self>
  {
    let own = entity()
    let entity = own.name.flatMap { NSEntityDescription.entity(forEntityName: $0, in: context) }
    return EntityFetches<Self>(entity ?? own).request()
  }

  /// Returns an arbitrary object of this class that satisfies the predicate; nil if there is none.
  ///
  /// - Throws: Errors of the fetch.
  public static func findFirstInContext(
    _ context: NSManagedObjectContext, predicate: NSPredicate? = nil
  ) throws -> Self? {
    try EntityFetches<Self>(entity()).first(in: context, predicate)
  }

  /// Returns all objects of this class that satisfy the predicate, in order.
  ///
  /// - Throws: Errors of the fetch.
  public static func allInContext(
    _ context: NSManagedObjectContext, predicate: NSPredicate? = nil,
    sortDescriptors: [NSSortDescriptor]? = nil
  ) throws -> [Self] {
    try EntityFetches<Self>(entity()).all(in: context, predicate, sortDescriptors)
  }

  /// Returns the number of objects of exactly this class's entity that satisfy the predicate.
  ///
  /// - Throws: Errors of the fetch.
  public static func countInContext(_ context: NSManagedObjectContext, predicate: NSPredicate? = nil) throws
    -> Int
  {
    try EntityFetches<Self>(entity()).count(in: context, predicate)
  }

  /// Deletes all objects of exactly this class's entity, without saving.
  ///
  /// - Throws: Errors of the fetch.
  public static func removeAllInContext(_ context: NSManagedObjectContext) throws {
    try EntityFetches<Self>(entity()).remove(in: context, except: [])
  }

  /// Deletes all objects of exactly this class's entity except some, without saving.
  ///
  /// - Throws: Errors of the fetch.
  public static func removeAllInContext(_ context: NSManagedObjectContext, except toKeep: [Self]) throws {
    try EntityFetches<Self>(entity()).remove(in: context, except: toKeep)
  }
}

/// Implements the shortcuts for an entity found in either way.
private struct EntityFetches<Object: NSManagedObject> {
  private let _entity: NSEntityDescription

  init(_ entity: NSEntityDescription) { _entity = entity }

  func request() -> NSFetchRequest<Object> {
    let request = NSFetchRequest<Object>()
    request.entity = _entity
    return request
  }

  func first(in context: NSManagedObjectContext, _ predicate: NSPredicate?) throws -> Object? {
    let request = request()
    request.predicate = predicate
    request.returnsObjectsAsFaults = false
    request.fetchLimit = 1
    request.fetchBatchSize = 1
    return try context.fetch(request).first
  }

  func all(
    in context: NSManagedObjectContext, _ predicate: NSPredicate?, _ order: [NSSortDescriptor]?
  ) throws -> [Object] {
    let request = request()
    request.predicate = predicate
    request.sortDescriptors = order
    return try context.fetch(request)
  }

  func count(in context: NSManagedObjectContext, _ predicate: NSPredicate?) throws -> Int {
    let request = request()
    request.predicate = predicate
    request.includesSubentities = false
    return try context.count(for: request)
  }

  func remove(in context: NSManagedObjectContext, except kept: [Object]) throws {
    let request = request()
    request.includesPropertyValues = false
    request.includesSubentities = false
    let keeps = Set(kept)
    for object in try context.fetch(request) where !keeps.contains(object) { context.delete(object) }
  }
}
