import CoreDataModelSchema

/// The state of a context's current save, and what the last one left.
struct SavePass {
  /// Whether a save is running.
  var isActive = false
  /// Whether objects' `willSave` is being called.
  var isCallingWillSave = false
  /// Slots that objects wrote through primitives in their last `willSave`: saved as they are, unchecked.
  var primitives: [ObjectIdentifier: SlotSet] = [:]
  /// The objects of the last save, retained while an insertion waits for the next one.
  var retained: [NSManagedObject] = []
  /// Place in the history that the current save has led to.
  var token: NSPersistentHistoryToken?
  /// The row cache's epoch after the last save into stores.
  var epoch = 0
}
