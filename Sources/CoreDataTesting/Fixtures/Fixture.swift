import CoreData
import Foundation

/// The objects that a fixture has made, by the `$id` of the file.
public struct Fixture: @unchecked Sendable {
  // Unchecked: the IDs are immutable; objects are asked for on the context's queue.
  private let _name: String
  private let _ids: [String: NSManagedObjectID]
  private let _context: NSManagedObjectContext
  /// The number of objects.
  public let count: Int

  init(_ name: String, _ ids: [String: NSManagedObjectID], count: Int, in context: NSManagedObjectContext) {
    (_name, _ids, self.count, _context) = (name, ids, count, context)
  }

  /// The object with an `$id`, in the context into which the fixture was loaded.
  ///
  /// ```swift
  /// let emma: Book = try fixture["emma"]
  /// ```
  ///
  /// Call it on the context's queue.
  ///
  /// - Throws: `TestStoreError` if the file has no such `$id`, or the object is of another class.
  public subscript<Object: NSManagedObject>(identifier: String) -> Object {
    get throws {
      guard let id = _ids[identifier] else {
        throw TestStoreError(
          "The fixture \(_name) has no object with the $id '\(identifier)'; it has \(_ids.keys.sorted().joined(separator: ", "))."
        )
      }
      let object = try _context.existingObject(with: id)
      guard let wanted = object as? Object else {
        throw TestStoreError(
          "'\(identifier)' of the fixture \(_name) is a \(type(of: object)), not a \(Object.self).")
      }
      return wanted
    }
  }
}

extension TestStore {
  /// Loads the objects of a file of a bundle, and saves them.
  ///
  /// ```swift
  /// let fixture = try store.load("Library.ndjson", from: .module)
  /// let emma: Book = try fixture["emma"]
  /// ```
  ///
  /// The forms are those of `coredata store export`, which makes such a file of any store: one object a line, or in
  /// a file that ends with `.json` one document with an array for each entity.
  ///
  /// ```json
  /// {"$entity":"Author","$id":"austen","name":"Jane Austen"}
  /// {"$entity":"Book","$id":"emma","title":"Emma","author":"austen"}
  /// ```
  ///
  /// Relationships lead to the `$id` of other objects of the file, to-manys are lists, from either end. Dates are
  /// ISO 8601, data and transformable values base64. What is not given has its default value.
  ///
  /// Call it on the queue of the context.
  ///
  /// - Parameters:
  ///   - name: The name of the file, in the bundle's resources.
  ///   - bundle: The bundle: `.module` for a resource of the test's target.
  ///   - context: The context; the view context if it is not given.
  /// - Throws: `TestStoreError` with the place in the file, or the error of the save.
  @discardableResult
  public func load(_ name: String, from bundle: Bundle = .main, into context: NSManagedObjectContext? = nil)
    throws
    -> Fixture
  {
    let path = name as NSString
    guard
      let url = bundle.url(forResource: path.deletingPathExtension, withExtension: path.pathExtension)
        ?? bundle.resourceURL?.appendingPathComponent(name)
    else { throw TestStoreError("There is no fixture '\(name)' in \(bundle.bundlePath).") }
    return try load(contentsOf: url, into: context)
  }

  /// Loads the objects of a file, and saves them; see `load(_:from:into:)`.
  ///
  /// - Throws: `TestStoreError` with the place in the file, or the error of the save.
  @discardableResult
  public func load(contentsOf url: URL, into context: NSManagedObjectContext? = nil) throws -> Fixture {
    let context = context ?? viewContext
    try checkThread(context)
    let loader = FixtureLoader(model, context)
    do {
      try loader.load(FixtureRecord.read(url))
    } catch {
      loader.discard()
      throw error
    }
    try context.save()
    return Fixture(
      url.lastPathComponent, loader.objects.mapValues(\.objectID), count: loader.count, in: context)
  }
}
