import CoreDataModelSchema

/// State of a context's current save, and leftovers of the last one.
struct SaveState {
  /// Whether a save is running.
  var isActive = false
  /// What the program does in the transaction of the current save, and in which store.
  var work: (store: NSPersistentStore, work: any StoreWork)?
  /// Whether objects' `willSave` is being called.
  var isCallingWillSave = false
  /// Slots written through primitives in the last `willSave`, which are saved without validation.
  var primitives: [ObjectIdentifier: SlotSet] = [:]
  /// The objects of the last save, retained while an insertion waits for the next one.
  var retained: [NSManagedObject] = []
  /// History token of the current save.
  var token: NSPersistentHistoryToken?
  /// Whether objects show values that the current save has read or the store has computed, which are to be announced.
  var showsNews = false
  /// Objects of rows that the stores' delete rules changed beyond the current save.
  var followed: [NSManagedObject] = []
  /// Objects that the current save links to without writing them.
  var linked: [LinkedObject] = []
  /// Whether the current save has resolved conflicts, which may have dropped changes.
  var hasResolved = false
  /// Whether the current save writes nothing for a deletion, since the row is gone: children reread the
  /// object instead of merging the deletion.
  var skipsVanished = false
  /// Whether `mergedInsertions` is kept; only for clients that ask for it.
  var recordsMergedInsertions = false
  /// New objects that were merged into others, each with its survivor.
  var mergedInsertions: [(object: NSManagedObject, survivor: NSManagedObject)] = []
  /// Epoch of the row cache after the last save into stores.
  var epoch = 0
  /// The epoch after which other saves may be newer than that one: they may have been made side by side.
  var begunEpoch = 0

  /// Records an untracked write made in `willSave`, which validation passes over.
  mutating func recordPrimitive(of object: NSManagedObject, _ slot: Int) {
    guard isCallingWillSave else { return }
    primitives[ObjectIdentifier(object), default: SlotSet()].insert(slot)
  }
}
