import Foundation

extension NSEntityDescription {
  /// Returns the entity of this name in the context's model; nil if there is none.
  ///
  /// Traps for a context without coordinator and parent, where Core Data raises.
  ///
  /// ```swift
  /// guard let entity = NSEntityDescription.entity(forEntityName: "Book", in: context) else { return }
  /// print(entity.attributesByName.keys.sorted())
  /// ```
  public class func entity(forEntityName entityName: String, in context: NSManagedObjectContext)
    -> NSEntityDescription?
  {
    if let model = context.memo.model { return model.entitiesByName[entityName] }
    guard let coordinator = context.persistentStoreCoordinator else {
      programmerError(
        "\(context.label) has neither coordinator nor parent, so that it knows no entity '\(entityName)'.")
    }
    return coordinator.frozen?.entitiesByName[entityName]
  }

  /// Creates and inserts an object of the named entity, as an instance of the entity's class.
  ///
  /// Traps for an entity that is not in the model, where Core Data raises.
  ///
  /// ```swift
  /// let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
  /// book.setValue("Orlando", forKey: "title")
  /// ```
  public class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      let known = context.persistentStoreCoordinator?.frozen?.entitiesByName.keys.sorted() ?? []
      let guess = Spelling.nearest(to: entityName, in: known).map { " Did you mean '\($0)'?" } ?? ""
      programmerError(
        "the model has no entity '\(entityName)'.\(guess) It has: \(known.joined(separator: ", ")).")
    }
    let object = ObjectMaker.make(entity)
    context.insert(object)
    return object
  }
}
