import CoreDataModelSchema
import Foundation

// Reads that have failed where no error can be thrown. Every such read comes here.

extension NSManagedObjectContext {
  /// Records that a value or relationship of an object could not be read. Traps if the policy says so and the
  /// object is not just damaged.
  ///
  /// - Parameter what: What was read, for messages.
  final func fail(_ object: NSManagedObject, _ what: @autoclosure () -> String, _ error: any Error) {
    let isDamage = StoreErrors.isDamage(error)
    if !isDamage, readFailurePolicy == .trap { programmerError("could not \(what()): \(error)") }
    readFailures.record(error, isDamage: isDamage)
    guard object._state.fail() else { return }
    Console.warn("could not \(what()), which reads as empty: \(error)")
    readFailureObserver?(object, error)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextReadDidFail, object: self,
      userInfo: [
        NSManagedObjectContextReadFailureObjectIDKey: object._objectID, NSUnderlyingErrorKey: error,
      ])
  }

  /// The first error of a read that has failed since the context was last rolled back or reset, damage
  /// included.
  package final var readFailure: (any Error)? { readFailures.first }

  /// Throws the kept error, unless only damaged objects have failed.
  final func checkReadFailures() throws {
    if let error = readFailures.lasting { throw error }
  }

  /// Throws the kept error if the next save would write, delete or check an object that could not be read.
  final func checkChangesForReadFailures() throws {
    guard let error = readFailures.first else { return }
    let isAny = unsaved.objects.contains { object in
      object._flags.contains(.failed) && (object.isDirty || object._flags.contains(.locked))
    }
    if isAny { throw error }
  }

  /// Replaces the success of a block by the kept error, if the block can throw any error.
  final func checked<Success, Failure>(_ result: Result<Success, Failure>) -> Result<Success, Failure> {
    guard let error = readFailures.lasting, Failure.self == (any Error).self, case .success = result else {
      return result
    }
    return .failure(error as! Failure)
  }

  /// Forgets the failures of all objects.
  final func forgetReadFailures() {
    guard readFailures.first != nil else { return }
    table.forEach { $0._state.forgetFailure() }
    readFailures.clear()
  }

  // MARK: Unknown targets

  /// Returns a fault that stands for an unknown object, one for each entity. It cannot be read, and belongs
  /// to no store.
  ///
  /// - Parameters:
  ///   - number: The number of an entity.
  ///   - fits: Whether an object of a class will do; the first such among the entity and its subentities is
  ///     used.
  fileprivate final func _standIn(
    forEntityNumbered number: Int, _ fits: (NSManagedObject.Type) -> Bool
  ) -> NSManagedObject? {
    guard let model = frozen else { return nil }
    let family = model.layout.layout(numbered: number).family.map { model.entity(numbered: $0) }
    guard let entity = family.first(where: { !$0.isAbstract && fits($0.shape.objectClass) }) else {
      return nil
    }
    if let known = readFailures.placeholders[entity.shape.layout.entityNumber] { return known }
    let object = ObjectMaker.make(entity)
    object.join(self)
    object._state.beginAsFault(checked: isChecked, recordingReads: recordsReads, readAt: stamps.current)
    table.insert(object)
    readFailures.keep(object)
    return object
  }

  /// The error of reading a fault that stands for an unknown object.
  final func errorOfStandIn(_ object: NSManagedObject) -> CocoaError {
    CocoaError.coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "This \(object._layout.entityName) is unknown: the object that refers to it could not be read. Call rollback() "
        + "or reset(), and read it again.")
  }
}

extension NSManagedObject {
  /// Whether the last attempt to read the values has failed.
  package final var isUnreadable: Bool { _flags.isSuperset(of: [.fault, .failed]) }

  /// Refuses a write that would need values which cannot be read. The object counts as changed, so that the
  /// next save throws.
  @inline(never) final func refuseWrite() { _context?.markChanged(self) }

  /// Returns a fault that stands for the target of a to-one whose owner cannot be read; nil if the owner can
  /// be read.
  package final func unknownTarget(
    at slot: Int, fitting fits: (NSManagedObject.Type) -> Bool = { _ in true }
  ) -> NSManagedObject? {
    guard isUnreadable, let relationship = relationship(slot), !relationship.isToMany else { return nil }
    return _context?._standIn(forEntityNumbered: relationship.destination, fits)
  }
}
