import CoreDataModelSchema
import Foundation

/// Keeps the errors of reads that have failed where no error can be thrown. Every such read comes here.
///
/// Runs on the context's queue.
struct ReadFailurePass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Records that a value or relationship of an object could not be read. Traps if the policy says so and the
  /// object is not just damaged.
  ///
  /// - Parameter what: What was read, for messages.
  func fail(_ object: NSManagedObject, _ what: @autoclosure () -> String, _ error: any Error) {
    let isDamage = StoreErrors.isDamage(error)
    if !isDamage, context.readFailurePolicy == .trap { programmerError("could not \(what()): \(error)") }
    context.readFailures.record(error, isDamage: isDamage)
    guard object._state.fail() else { return }
    Console.warn("could not \(what()), which reads as empty: \(error)")
    context.readFailureObserver?(object, error)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextReadDidFail, object: context,
      userInfo: [
        NSManagedObjectContextReadFailureObjectIDKey: object._objectID, NSUnderlyingErrorKey: error,
      ])
  }

  /// Throws the kept error, unless only damaged objects have failed.
  func check() throws {
    if let error = context.readFailures.lasting { throw error }
  }

  /// Throws the kept error if the next save would write, delete or check an object that could not be read.
  func checkChanges() throws {
    guard let error = context.readFailures.first else { return }
    let isAny = context.unsaved.objects.contains { object in
      object._flags.contains(.failed) && (object.isDirty || object._flags.contains(.locked))
    }
    if isAny { throw error }
  }

  /// Replaces the success of a block by the kept error, if the block can throw any error.
  func checked<Success, Failure>(_ result: Result<Success, Failure>) -> Result<Success, Failure> {
    guard let error = context.readFailures.lasting, Failure.self == (any Error).self, case .success = result
    else {
      return result
    }
    return .failure(error as! Failure)
  }

  /// Forgets the failures of all objects.
  func forget() {
    guard context.readFailures.first != nil else { return }
    context.table.forEach { $0._state.forgetFailure() }
    context.readFailures.clear()
  }

  // MARK: Unknown targets

  /// Returns a fault that stands for an unknown object, one for each entity. It cannot be read, and belongs
  /// to no store.
  ///
  /// - Parameters:
  ///   - number: The number of an entity.
  ///   - fits: Whether an object of a class will do; the first such among the entity and its subentities is
  ///     used.
  fileprivate func _standIn(
    forEntityNumbered number: Int, _ fits: (NSManagedObject.Type) -> Bool
  ) -> NSManagedObject? {
    guard let model = context.frozen else { return nil }
    let family = model.layout.layout(numbered: number).family.map { model.entity(numbered: $0) }
    guard let entity = family.first(where: { !$0.isAbstract && fits($0.shape.objectClass) }) else {
      return nil
    }
    if let known = context.readFailures.placeholders[entity.shape.layout.entityNumber] { return known }
    let object = ObjectMaker.make(entity)
    object.join(context)
    object._state.beginAsFault(
      checked: context.isChecked, recordingReads: context.recordsReads, readAt: context.ages.stamps.current)
    context.table.insert(object)
    context.readFailures.keep(object)
    return object
  }

  /// The error of reading a fault that stands for an unknown object.
  func errorOfStandIn(_ object: NSManagedObject) -> CocoaError {
    CocoaError.coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "This \(object._layout.entityName) is unknown: the object that refers to it could not be read. Call rollback() "
        + "or reset(), and read it again.")
  }
}

extension NSManagedObjectContext {
  /// The first error of a read that has failed since the context was last rolled back or reset, damage
  /// included.
  package final var readFailure: (any Error)? { readFailures.first }

  /// What keeps the errors of reads that cannot throw them.
  final var failedReads: ReadFailurePass { ReadFailurePass(self) }
}

extension NSManagedObject {
  /// Whether the last attempt to read the values has failed.
  package final var isUnreadable: Bool { _flags.isSuperset(of: [.fault, .failed]) }

  /// Refuses a write that would need values which cannot be read. The object counts as changed, so that the
  /// next save throws.
  @inline(never) final func refuseWrite() { _context?.editing.markChanged(self) }

  /// Returns a fault that stands for the target of a to-one whose owner cannot be read; nil if the owner can
  /// be read.
  package final func unknownTarget(
    at slot: Int, fitting fits: (NSManagedObject.Type) -> Bool = { _ in true }
  ) -> NSManagedObject? {
    guard isUnreadable, let relationship = relationship(slot), !relationship.isToMany else { return nil }
    return _context?.failedReads._standIn(forEntityNumbered: relationship.destination, fits)
  }
}
