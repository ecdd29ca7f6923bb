import CoreDataModelSchema
import Foundation
import Synchronization

/// An object of an entity, with an identity, values by property name, and relationships to other objects.
///
/// A managed object belongs to one context and must only be used on that context's queue; pass its `objectID`
/// to other contexts. A fault is an object whose values are not loaded. Accessing a value fires the fault,
/// which loads them.
///
/// ```swift
/// let author = Author(context: context)
/// author.name = "Virginia Woolf"
/// let book = Book(context: context)
/// book.title = "The Waves"
/// book.author = author  // and the book is among the author's books
/// try context.save()
/// ```
open class NSManagedObject: NSObject, NSFetchRequestResult, ManagedObjectCreation {
  // The designated initializer must stay the first member: `ObjectMaker` calls it by its index in the method
  // table.

  /// Creates an object of an entity and inserts it into the context, if any.
  ///
  /// - Parameters:
  ///   - entity: A concrete entity.
  ///   - context: Context to insert the object into; nil leaves it without a context until `insert(_:)`.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    _entity = entity
    _shapeReference = entity.shapeReference
    super.init()
    if let context { context.insert(self) }
  }

  deinit {
    releaseIdentity()
    if _flags.contains(.observed) { ObservationRegistrars.forget(self) }
  }

  // MARK: State

  /// The entity. Its layout numbers the slots.
  final let _entity: NSEntityDescription
  /// The entity's slots, defaults and codings, which the entity retains from its first use on.
  final let _shapeReference: Unmanaged<FrozenEntity>
  /// A retained ID, or the retained ID space of a key; see `NSManagedObject+Identity.swift`. 0 until the
  /// object is registered or its ID is read.
  final let _identity = Atomic<UInt>(0)
  /// The primary key, if `_identity` holds an ID space.
  @exclusivity(unchecked) final var _reference: Int64 = 0
  /// The context, which clears this reference when it unregisters the object or is deallocated.
  @exclusivity(unchecked) final var _contextReference: Unmanaged<NSManagedObjectContext>?
  /// The stored and the assigned values.
  @exclusivity(unchecked) final var _values = ObjectValues()
  /// Relationships accessed so far.
  @exclusivity(unchecked) final var _relations: Relations?
  @exclusivity(unchecked) final var _state = ObjectState()

  /// Creates an object without an entity and logs to standard error, as Core Data does.
  @available(*, deprecated, message: "Use init(context:) or init(entity:insertInto:)")
  public convenience override init() {
    Console.warn(
      "\(Self.self) was made without its designated initializer, init(entity:insertInto:): it has no entity and belongs to "
        + "no context.")
    self.init(entity: .missing, insertInto: nil)
  }

  /// Creates an object of this class's only entity and inserts it.
  ///
  /// Traps when no entity, or more than one, of the context's model has this class.
  ///
  /// ```swift
  /// let book = Book(context: context)
  /// ```
  public convenience init(context: NSManagedObjectContext) {
    self.init(entity: context.memo.onlyEntity(of: Self.self, in: context), insertInto: context)
  }

  // MARK: Description

  open override var description: String {
    let id = _id.map { $0.uriRepresentation().absoluteString } ?? "not inserted"
    guard let row = _current, !isFault else {
      return "<\(type(of: self)): \(_entity.name ?? "?") \(id); data: <fault>>"
    }
    let values = _layout.slots.enumerated().filter { !$0.element.isHidden }.map { number, slot in
      "\(slot.name) = \(slot.isToMany ? "<relationship>" : row[number].text(as: slot.type))"
    }
    return "<\(type(of: self)): \(_entity.name ?? "?") \(id); data: {\(values.joined(separator: "; "))}>"
  }

  // MARK: Identity

  /// Identity comparison. Cannot be overridden, because contexts and collections rely on it.
  public final override func isEqual(_ object: Any?) -> Bool {
    guard let object, BoxedReference.mayHold(object, self) else { return false }
    return (object as AnyObject) === self
  }

  /// Constant for the object's lifetime.
  public final override var hash: Int {
    // `Hasher` mixes the bits; objects are at least 16 bytes apart.
    Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4
  }

  // MARK: Class

  /// The entity of this class in the models used so far.
  ///
  /// If no entity or more than one has this class, returns a description without a name and logs the entities
  /// that share the class to standard error, as Core Data does.
  open class func entity() -> NSEntityDescription { LoadedModels.onlyEntity(of: self) }

  /// Whether assigning to a property that is not in the model leaves the object unchanged.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// Whether assigning to a transient attribute leaves the object's change state untouched. False unless
  /// overridden.
  ///
  /// Replaces Core Data's `contextShouldIgnoreChangesFor<Key>` methods, which are found by name. Called once
  /// per transient attribute of an entity, when the model is first used.
  ///
  /// ```swift
  /// final class Draft: NSManagedObject {
  ///   override class func contextShouldIgnoreChanges(forKey key: String) -> Bool { key == "scrollPosition" }
  /// }
  /// ```
  open class func contextShouldIgnoreChanges(forKey key: String) -> Bool { false }

  /// Creates a fetch request for the entity of this class.
  @_disfavoredOverload  // Generated classes declare a typed one, which takes precedence.
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }

  // MARK: Life-cycle hooks

  /// Called once in each context in which the object appears as newly inserted, after default values are set.
  ///
  /// ```swift
  /// final class Note: NSManagedObject {
  ///   override func awakeFromInsert() {
  ///     super.awakeFromInsert()
  ///     setPrimitiveValue(Date(), forKey: "created")
  ///   }
  /// }
  /// ```
  open func awakeFromInsert() {}

  /// Called whenever a fault is filled. Assigning values here does not make the object dirty.
  open func awakeFromFetch() {}

  /// Called after undo, refresh, rollback or a merge policy has changed the object's values.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called when the object is about to be deleted, with its relationships still in place.
  open func prepareForDeletion() {}

  /// Called before the object is saved, and again after a change through accessors.
  open func willSave() {}

  /// Called after the object is saved.
  open func didSave() {}

  /// Called before the object becomes a fault.
  open func willTurnIntoFault() {}

  /// Called after the object has become a fault.
  open func didTurnIntoFault() {}

  // MARK: Key-value access

  /// Returns a property's value: numbers as NSNumber, a to-one as a managed object, a to-many as a Swift set,
  /// which casts to `Set<Book>` and `NSSet`, an ordered one as an `NSMutableOrderedSet` that writes through.
  ///
  /// Core Data's set of an unordered to-many writes through as well. Foundation on this platform casts only
  /// its own set classes to Swift's, so no set can do both; write through `mutableSetValue(forKey:)`.
  ///
  /// Fills a fault. Traps for a key that the entity does not have, where Core Data raises.
  ///
  /// ```swift
  /// let title = book.value(forKey: "title") as? String
  /// let books = author.value(forKey: "books") as? Set<Book> ?? []
  /// ```
  open func value(forKey key: String) -> Any? { valueOfProperty(key) }

  /// Sets a property and maintains inverse relationships.
  ///
  /// Fills a fault. Traps for a key that the entity does not have or a value of the wrong type, where Core
  /// Data raises.
  ///
  /// ```swift
  /// book.setValue("The Waves", forKey: "title")
  /// book.setValue(author, forKey: "author")
  /// ```
  open func setValue(_ value: Any?, forKey key: String) { setValueOfProperty(value, key) }

  /// Returns the value of a key that the entity does not have. Traps unless overridden, where Core Data
  /// raises.
  ///
  /// Override this to provide custom keys for key paths, predicates on objects and sections of fetched
  /// results: this platform finds no accessors by name.
  open func value(forUndefinedKey key: String) -> Any? { programmerError(unknownKeyMessage(key)) }

  /// Sets the value of a key that the entity does not have. Traps unless overridden, where Core Data raises.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { programmerError(unknownKeyMessage(key)) }

  /// Returns a property's value without access notification. Not overridable, as in Core Data.
  public final func primitiveValue(forKey key: String) -> Any? { valueOfProperty(key) }

  /// Sets a property without change tracking and without touching inverse relationships.
  ///
  /// Not overridable, as in Core Data.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    setPrimitiveValueOfProperty(value, key)
  }

  /// Fills a fault before a property is read; nil only fills the fault.
  open func willAccessValue(forKey key: String?) {
    if _flags.contains(.partial), let slot = key.flatMap({ _layout.slot(named: $0) }), hasPartialValue(slot) {
      return
    }
    // Without a property, an object that its context has dropped has nothing to fill; its fault counts as
    // fired, as in Core Data.
    if key == nil, _context == nil, _row == nil {
      if !_flags.contains(.failed) { _state.showValues() }
      return
    }
    fireFault()
  }

  /// Counterpart of `willAccessValue(forKey:)`.
  open func didAccessValue(forKey key: String?) {}

  /// Prepares for a change made by `setPrimitiveValue(_:forKey:)`.
  open func willChangeValue(forKey key: String) { fireFault() }

  /// Marks a property as changed after `setPrimitiveValue(_:forKey:)`.
  open func didChangeValue(forKey key: String) { markChanged(key: key) }

  /// Prepares for a change of a to-many's members.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { fireFault() }

  /// Marks a to-many as changed.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { markChanged(key: inKey) }

  /// Returns the value at the end of a key path, including collection operators such as `books.@count` and
  /// `books.@avg.price`.
  ///
  /// ```swift
  /// let country = book.value(forKeyPath: "author.country") as? String
  /// let pages = author.value(forKeyPath: "books.@sum.pages") as? Int
  /// ```
  open func value(forKeyPath keyPath: String) -> Any? { valueAtEnd(of: keyPath) }

  /// Sets the value at the end of a key path through to-one relationships.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) { setValue(value, atEndOf: keyPath) }

  /// Sets several properties; NSNull sets nil.
  ///
  /// ```swift
  /// book.setValuesForKeys(["title": "The Waves", "pages": 297, "lastOpened": NSNull()])
  /// ```
  open func setValuesForKeys(_ keyedValues: [String: Any]) { setValues(keyedValues) }

  /// Returns the values of several properties; nil appears as NSNull.
  ///
  /// ```swift
  /// let row = book.dictionaryWithValues(forKeys: ["title", "pages"])
  /// ```
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(keys) }

  /// Returns the members of a to-many as a set that writes through and maintains inverses.
  ///
  /// Foundation on this platform bridges only its own set classes, so `as? Set<Book>` of this set is empty.
  /// Use `value(forKey:) as? Set<Book>`, or `allObjects`.
  ///
  /// ```swift
  /// author.mutableSetValue(forKey: "books").add(book)
  /// author.mutableSetValue(forKey: "books").remove(book)
  /// ```
  open func mutableSetValue(forKey key: String) -> NSMutableSet { liveSet(key) }

  /// Returns the members of an ordered to-many as an ordered set that writes through and maintains inverses.
  ///
  /// ```swift
  /// book.mutableOrderedSetValue(forKey: "chapters").insert(chapter, at: 0)
  /// ```
  open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { liveOrderedSet(key) }

  /// Returns the to-many at the end of a key path as a set that writes through; an empty set that does not if
  /// a to-one on the way is nil.
  ///
  /// ```swift
  /// book.mutableSetValue(forKeyPath: "author.books").remove(book)
  /// ```
  open func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    owner(atEndOf: keyPath).map { $0.owner.mutableSetValue(forKey: $0.key) } ?? NSMutableSet()
  }

  /// Returns the ordered to-many at the end of a key path as an ordered set that writes through; an empty set
  /// that does not if a to-one on the way is nil.
  open func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    owner(atEndOf: keyPath).map { $0.owner.mutableOrderedSetValue(forKey: $0.key) } ?? NSMutableOrderedSet()
  }

  // MARK: Changes

  /// Returns persistent properties changed since the last fetch or save, with their new values. For a
  /// never-saved object, returns all properties that were set, also through primitives. Reads nothing from
  /// the store.
  ///
  /// ```swift
  /// if book.changedValues()["title"] != nil { print("The title was changed.") }
  /// ```
  open func changedValues() -> [String: Any] { currentChanges() }

  /// Returns values as last fetched or saved; nil appears as NSNull. Empty for a never-saved object.
  ///
  /// ```swift
  /// let before = book.committedValues(forKeys: ["title"])["title"] as? String
  /// print("\(before ?? "untitled") is now \(book.title ?? "untitled")")
  /// ```
  ///
  /// - Parameter keys: Names of properties; nil for all persistent ones.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] { storedValues(keys) }

  /// Returns the properties changed since changes were last processed, with their last fetched or saved
  /// values.
  open func changedValuesForCurrentEvent() -> [String: Any] { eventChanges() }

  /// Whether a persistent property differs from its last fetched or saved value. Does not load relationships.
  ///
  /// ```swift
  /// for object in context.updatedObjects where !object.hasPersistentChangedValues {
  ///   context.refresh(object, mergeChanges: false)  // set to the values that it had
  /// }
  /// ```
  open var hasPersistentChangedValues: Bool { hasStoredChanges }

  /// Whether the object was inserted, updated or deleted since its last save.
  open var hasChanges: Bool { isDirty }

  // MARK: Faults

  /// Whether a relationship is not loaded; false for a key that is not a relationship. Does not load it.
  open func hasFault(forRelationshipNamed key: String) -> Bool { isUnread(key) }

  /// Returns the IDs of a relationship's objects without creating the objects; empty for a key that is not a
  /// relationship.
  ///
  /// ```swift
  /// let count = author.objectIDs(forRelationshipNamed: "books").count
  /// ```
  open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { relatedIDs(key) }

  // MARK: Validation

  /// Validates one property's value, and may replace it.
  ///
  /// The value is inout because Apple's AutoreleasingUnsafeMutablePointer does not exist on this platform.
  ///
  /// ```swift
  /// var title: Any? = ""
  /// do {
  ///   try book.validateValue(&title, forKey: "title")
  /// } catch let error as CocoaError {
  ///   print(error.userInfo[NSValidationKeyErrorKey] ?? "", error.localizedDescription)
  /// }
  /// ```
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    try validateBuiltIn(&value, key)
  }

  /// Validates the deletion of the object.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForDelete() throws { try validateDeletion() }

  /// Validates all values of an object about to be inserted.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForInsert() throws { try validateAllProperties() }

  /// Validates all values of an object about to be updated.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForUpdate() throws { try validateAllProperties() }
}

// As in Core Data, managed objects are not Sendable; the compiler rejects passing one to another isolation
// domain.
@available(*, unavailable)
extension NSManagedObject: @unchecked Sendable {}
