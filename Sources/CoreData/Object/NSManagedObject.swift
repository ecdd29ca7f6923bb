import CoreDataModelSchema
import Foundation
import Synchronization

/// An object of an entity: identity, values by property name, relationships to other objects of its context.
///
/// Belongs to one context and may be used only on that context's queue; pass `objectID` between contexts
/// instead. A managed object that is a fault has identity but no values yet; touching a value loads them.
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
  // The designated initialiser stays the first member: `ObjectMaker` calls it through its place in the
  // class's table.

  /// Creates an object of an entity and, with a context, inserts it there.
  ///
  /// - Parameters:
  ///   - entity: A concrete entity.
  ///   - context: Context that the object becomes part of; nil leaves it on its own until `insert(_:)`.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    _entity = entity
    _shape = entity.shape
    super.init()
    if let context { context.insert(self) }
  }

  deinit {
    releaseIdentity()
    if _flags.contains(.observed) { ObservationRegistrars.forget(self) }
  }

  // MARK: State

  /// Entity; its layout is what slots are numbered in.
  final let _entity: NSEntityDescription
  /// Slots, defaults and codings of the entity, which holds them from when it is first used.
  final unowned(unsafe) let _shape: FrozenEntity
  /// An ID or the space of a key, held: see `NSManagedObject+Identity.swift`. 0 until the object is
  /// registered or asked for its ID.
  final let _identity = Atomic<UInt>(0)
  /// Primary key, where `_identity` has the space only.
  @exclusivity(unchecked) final var _reference: Int64 = 0
  /// The context outlives its registration of the object: it clears this when it forgets the object or dies.
  @exclusivity(unchecked) final unowned(unsafe) var _context: NSManagedObjectContext?
  /// Values as last fetched or saved; nil in a fault and in an object that was never saved.
  @exclusivity(unchecked) final var _row: Row?
  /// Values as they are now, once any was written.
  @exclusivity(unchecked) final var _draft: Row?
  /// Slots assigned since the object was last fetched or saved.
  @exclusivity(unchecked) final var _changed = SlotSet()
  /// Realised relationships.
  @exclusivity(unchecked) final var _relations: Relations?
  @exclusivity(unchecked) final var _state = ObjectState()

  /// Makes something that is no object of any entity, with a line on the standard error, as Core Data does.
  @available(*, deprecated, message: "Use init(context:) or init(entity:insertInto:)")
  public convenience override init() {
    Console.warn(
      "\(Self.self) was made without its designated initializer, init(entity:insertInto:): it has no entity and belongs to "
        + "no context.")
    self.init(entity: .missing, insertInto: nil)
  }

  /// Creates an object of the one entity that this class stands for, and inserts it.
  ///
  /// Traps when no entity, or more than one, of the context's model has this class.
  ///
  /// ```swift
  /// let book = Book(context: context)
  /// ```
  public convenience init(context: NSManagedObjectContext) {
    self.init(entity: context.onlyEntity(of: Self.self), insertInto: context)
  }

  // MARK: Description

  open override var description: String {
    let id = _id.map { $0.uriRepresentation().absoluteString } ?? "not inserted"
    guard let row = _current, !isFault else {
      return "<\(type(of: self)): \(_entity.name ?? "?") \(id); data: <fault>>"
    }
    let values = _layout.slots.enumerated().filter { !$0.element.isHidden }.map { number, slot in
      "\(slot.name) = \(slot.isToMany ? "<relationship>" : row[number].text(as: slot.attribute?.type))"
    }
    return "<\(type(of: self)): \(_entity.name ?? "?") \(id); data: {\(values.joined(separator: "; "))}>"
  }

  // MARK: Identity

  /// Whether both are the same object. Contexts and collections rely on it, so that it cannot be overridden.
  public final override func isEqual(_ object: Any?) -> Bool {
    guard let object, BoxedReference.mayHold(object, self) else { return false }
    return (object as AnyObject) === self
  }

  /// The same for the object's whole life.
  public final override var hash: Int {
    // `Hasher` mixes the bits; objects lie 16 bytes apart at least.
    Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4
  }

  // MARK: Class

  /// Entity that this class stands for, in the models that have been used so far.
  ///
  /// When no entity has this class, or more than one, a description without a name, as in Core Data; which
  /// entities share the class is said on the standard error.
  open class func entity() -> NSEntityDescription { LoadedModels.onlyEntity(of: self) }

  /// Whether assigning to a property that the model does not have leaves the object unchanged.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// Whether assigning to a transient attribute leaves an object as clean as it was; false unless overridden.
  ///
  /// Stands for Core Data's `contextShouldIgnoreChangesFor<Key>` methods, which it finds by name. Asked once
  /// for each transient attribute of an entity, when the model is first used.
  ///
  /// ```swift
  /// final class Draft: NSManagedObject {
  ///   override class func contextShouldIgnoreChanges(forKey key: String) -> Bool { key == "scrollPosition" }
  /// }
  /// ```
  open class func contextShouldIgnoreChanges(forKey key: String) -> Bool { false }

  /// Creates a request for the entity that this class stands for.
  @_disfavoredOverload  // Generated classes have one of their own type, which is meant.
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity()
    return request
  }

  // MARK: Life-cycle hooks

  /// Called once in each context in which the object appears as newly inserted, after default values were
  /// set.
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

  /// Called whenever a fault has been filled. Assigning values here does not make the object dirty.
  open func awakeFromFetch() {}

  /// Called after the object took values by undo, refresh, rollback or a merge policy.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called when the object is about to be deleted, relationships still in place.
  open func prepareForDeletion() {}

  /// Called before the object is saved, and again after a change through accessors.
  open func willSave() {}

  /// Called after the object was saved.
  open func didSave() {}

  /// Called before the object becomes a fault.
  open func willTurnIntoFault() {}

  /// Called after the object has become a fault.
  open func didTurnIntoFault() {}

  // MARK: Key-value access

  /// Value of a property: numbers as NSNumber, a to-one as a managed object, a to-many as a Swift set, which
  /// casts to `Set<Book>` and `NSSet`, an ordered one as an `NSMutableOrderedSet` that writes through.
  ///
  /// Core Data's set of an unordered to-many writes through, too. Foundation here can cast only sets of its own
  /// class to Swift's, so that no set does both: take `mutableSetValue(forKey:)` to write.
  ///
  /// Fills a fault. Traps for a key that the entity does not have, as Core Data raises.
  ///
  /// ```swift
  /// let title = book.value(forKey: "title") as? String
  /// let books = author.value(forKey: "books") as? Set<Book> ?? []
  /// ```
  open func value(forKey key: String) -> Any? { valueOfProperty(key) }

  /// Sets a property, keeping inverse relationships in step.
  ///
  /// Fills a fault. Traps for a key that the entity does not have or a value of the wrong type, as Core Data
  /// raises.
  ///
  /// ```swift
  /// book.setValue("The Waves", forKey: "title")
  /// book.setValue(author, forKey: "author")
  /// ```
  open func setValue(_ value: Any?, forKey key: String) { setValueOfProperty(value, key) }

  /// Returns the value of a key that the entity does not have; traps unless overridden, as Core Data raises.
  ///
  /// A subclass answers here for keys of its own, which nothing finds by name on this platform: for key
  /// paths, predicates on objects and sections of fetched results.
  open func value(forUndefinedKey key: String) -> Any? { programmerError(unknownKeyMessage(key)) }

  /// Takes a value for a key that the entity does not have; traps unless overridden, as Core Data raises.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { programmerError(unknownKeyMessage(key)) }

  /// Value of a property, without access notification. Cannot be overridden, as Core Data forbids it.
  public final func primitiveValue(forKey key: String) -> Any? { valueOfProperty(key) }

  /// Sets a property without change tracking and without touching inverse relationships.
  ///
  /// Cannot be overridden, as Core Data forbids it.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    setPrimitiveValueOfProperty(value, key)
  }

  /// Fills a fault before a property is read; with nil, just fills the fault.
  open func willAccessValue(forKey key: String?) {
    if _flags.contains(.partial), let slot = key.flatMap({ _layout.slot(named: $0) }), hasPartialValue(slot) {
      return
    }
    // Asked for no property, an object that its context has forgotten has nothing to fill.
    if key == nil, _context == nil, _row == nil { return }
    fireFault()
  }

  /// Counterpart of `willAccessValue(forKey:)`.
  open func didAccessValue(forKey key: String?) {}

  /// Announces a change that `setPrimitiveValue(_:forKey:)` makes.
  open func willChangeValue(forKey key: String) { fireFault() }

  /// Marks a property as changed after `setPrimitiveValue(_:forKey:)`.
  open func didChangeValue(forKey key: String) { markChanged(key: key) }

  /// Announces a change of a to-many's members.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { fireFault() }

  /// Marks a to-many as changed.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) { markChanged(key: inKey) }

  /// Value at the end of a path of keys; collection operators such as `books.@count` and `books.@avg.price`
  /// included.
  ///
  /// ```swift
  /// let country = book.value(forKeyPath: "author.country") as? String
  /// let pages = author.value(forKeyPath: "books.@sum.pages") as? Int
  /// ```
  open func value(forKeyPath keyPath: String) -> Any? { valueAtEnd(of: keyPath) }

  /// Sets the value at the end of a path of keys over to-one relationships.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) { setValue(value, atEndOf: keyPath) }

  /// Sets several properties; NSNull sets nil.
  ///
  /// ```swift
  /// book.setValuesForKeys(["title": "The Waves", "pages": 297, "lastOpened": NSNull()])
  /// ```
  open func setValuesForKeys(_ keyedValues: [String: Any]) { setValues(keyedValues) }

  /// Values of several properties; nil shows as NSNull.
  ///
  /// ```swift
  /// let row = book.dictionaryWithValues(forKeys: ["title", "pages"])
  /// ```
  open func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] { values(keys) }

  /// The members of a to-many as a set that writes through, inverses included.
  ///
  /// Foundation here bridges only sets of its own: `as? Set<Book>` of this one comes out empty. Take
  /// `value(forKey:) as? Set<Book>`, or `allObjects`.
  ///
  /// ```swift
  /// author.mutableSetValue(forKey: "books").add(book)
  /// author.mutableSetValue(forKey: "books").remove(book)
  /// ```
  open func mutableSetValue(forKey key: String) -> NSMutableSet { liveSet(key) }

  /// The members of an ordered to-many as an ordered set that writes through, inverses included.
  ///
  /// ```swift
  /// book.mutableOrderedSetValue(forKey: "chapters").insert(chapter, at: 0)
  /// ```
  open func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet { liveOrderedSet(key) }

  // MARK: Changes

  /// Persistent properties changed since the object was last fetched or saved, with their new values. Of an
  /// object that was never saved, all that were set, through primitives too. Reads nothing.
  ///
  /// ```swift
  /// if book.changedValues()["title"] != nil { print("The title was changed.") }
  /// ```
  open func changedValues() -> [String: Any] { currentChanges() }

  /// Values as last fetched or saved; nil shows as NSNull. An object that was never saved has none.
  ///
  /// ```swift
  /// let before = book.committedValues(forKeys: ["title"])["title"] as? String
  /// print("\(before ?? "untitled") is now \(book.title ?? "untitled")")
  /// ```
  ///
  /// - Parameter keys: Properties to answer for; nil for all that are stored.
  open func committedValues(forKeys keys: [String]?) -> [String: Any] { storedValues(keys) }

  /// Properties changed since changes were last processed, with the values they had at the last fetch or
  /// save.
  open func changedValuesForCurrentEvent() -> [String: Any] { eventChanges() }

  /// Whether a persistent property differs from what was last fetched or saved. Reads no relationship.
  ///
  /// ```swift
  /// for object in context.updatedObjects where !object.hasPersistentChangedValues {
  ///   context.refresh(object, mergeChanges: false)  // set to the values that it had
  /// }
  /// ```
  open var hasPersistentChangedValues: Bool { hasStoredChanges }

  /// Whether the object was inserted, updated or deleted since it was last saved.
  open var hasChanges: Bool { isDirty }

  // MARK: Faults

  /// Whether a relationship has not been read yet; false for a key that names none. Does not read it.
  open func hasFault(forRelationshipNamed key: String) -> Bool { isUnread(key) }

  /// IDs of a relationship's objects, without making the objects; none for a key that names no relationship.
  ///
  /// ```swift
  /// let count = author.objectIDs(forRelationshipNamed: "books").count
  /// ```
  open func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] { relatedIDs(key) }

  // MARK: Validation

  /// Checks one property's value, and may replace it.
  ///
  /// Takes the value inout, since Apple's AutoreleasingUnsafeMutablePointer does not exist here.
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

  /// Checks whether the object may be deleted.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForDelete() throws { try validateDeletion() }

  /// Checks all values of an object about to be inserted.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForInsert() throws { try validateAllProperties() }

  /// Checks all values of an object about to be updated.
  ///
  /// - Throws: A Cocoa error with a validation code.
  open func validateForUpdate() throws { try validateAllProperties() }
}

// Core Data marks managed objects as not Sendable; the compiler is to say so when one is passed on.
@available(*, unavailable)
extension NSManagedObject: @unchecked Sendable {}
