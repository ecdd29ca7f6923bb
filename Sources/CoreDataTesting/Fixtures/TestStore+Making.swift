import CoreData
import Foundation

extension TestStore {
  /// Inserts an object with plausible values for what is mandatory and has no default: attributes first, then the
  /// closure, then the mandatory relationships that are still empty, for which it makes objects as well.
  ///
  /// ```swift
  /// let book = try store.make(Book.self) { $0.title = "Emma" }
  /// // Its mandatory author is a new Author with the name "name 1".
  /// ```
  ///
  /// Texts and numbers count up within the test, so that constraints of uniqueness hold. Optional properties stay
  /// nil. The object is not saved.
  ///
  /// Call it on the queue of the context.
  ///
  /// - Parameters:
  ///   - type: The object's class.
  ///   - context: The context; the view context if it is not given.
  ///   - body: Sets the values that the test is about.
  /// - Throws: `TestStoreError` if the model has no entity, or several, of the class, or a mandatory value is
  ///   missing that the library cannot think of; and what `body` throws.
  @discardableResult
  public func make<Object: NSManagedObject>(
    _ type: Object.Type, in context: NSManagedObjectContext? = nil, _ body: (Object) throws -> Void = { _ in }
  ) throws -> Object {
    let object = try make(_entity(of: type), in: context) { object in
      guard let object = object as? Object else {
        throw TestStoreError(
          "Objects of the entity of \(String(reflecting: type)) are of the class \(String(reflecting: Swift.type(of: object))). "
            + "If both are of that name, say in the model of which module the class is.")
      }
      try body(object)
    }
    return object as! Object
  }

  /// Inserts an object of a named entity in the same way.
  ///
  /// ```swift
  /// let tag = try store.make("Tag") { $0.setValue("novel", forKey: "name") }
  /// ```
  @discardableResult
  public func make(
    _ entityName: String, in context: NSManagedObjectContext? = nil,
    _ body: (NSManagedObject) throws -> Void = { _ in }
  ) throws -> NSManagedObject {
    guard let entity = model.entitiesByName[entityName] else {
      throw TestStoreError(
        "The model has no entity '\(entityName)'; it has \(model.entitiesByName.keys.sorted().joined(separator: ", "))."
      )
    }
    return try make(entity, in: context, body)
  }

  func make(
    _ entity: NSEntityDescription, in context: NSManagedObjectContext?,
    _ body: (NSManagedObject) throws -> Void
  ) throws -> NSManagedObject {
    let context = context ?? viewContext
    try checkThread(context)
    return try ObjectMaker(
      context,
      count: { entity in
        self.made.withLock { made in
          made[entity, default: 0] += 1
          return made[entity]!
        }
      }
    ).make(entity, body)
  }

  private func _entity(of type: NSManagedObject.Type) throws -> NSEntityDescription {
    let name = String(reflecting: type)
    let bare = name.split(separator: ".").last.map(String.init) ?? name
    #if canImport(Darwin)
    let names: Set<String> = [name, bare, NSStringFromClass(type)]
    #else
    let names: Set<String> = [name, bare]
    #endif
    let found = model.entities.filter { names.contains($0.managedObjectClassName) }
    if found.count == 1 { return found[0] }
    throw TestStoreError(
      found.isEmpty
        ? "No entity of the model has the class \(name)."
        : "Several entities have the class \(name): \(found.compactMap(\.name).sorted().joined(separator: ", ")); "
          + "make one by its name.")
  }
}
