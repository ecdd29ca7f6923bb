import CoreData
import Foundation

/// An operation that a round kills or makes fail.
package enum Work: String, Sendable, CaseIterable {
  case creation
  case firstSave
  case smallSaves
  case bigSave
  case reading
  case lightweightMigration
  case mappingMigration
  case replacement
  case moving
  case destruction

  /// In words, for the table.
  package var title: String {
    switch self {
    case .creation: "creation"
    case .firstSave: "first save"
    case .smallSaves: "small saves"
    case .bigSave: "big save"
    case .reading: "reading"
    case .lightweightMigration: "lightweight migration"
    case .mappingMigration: "migration by mapping"
    case .replacement: "replacing"
    case .moving: "moving"
    case .destruction: "destroying"
    }
  }

  /// The store at the start.
  package var start: StoreTemplate.Kind {
    switch self {
    case .creation: .nothing
    case .firstSave: .empty
    default: .filled
    }
  }

  /// Versions of the model that the store may be of afterwards, the newest first.
  package var versions: [TrialModel] {
    switch self {
    case .lightweightMigration: [.extended, .first]
    case .mappingMigration: [.mapped, .first]
    default: [.first]
    }
  }
}

/// Runs works, and handles their failures.
package struct WorkRun {
  package let url: URL
  package let form: StoreForm
  package let page: TrialPage
  /// Called at the first error, and removes its cause: the work then continues, and must not fail again. Nil
  /// if no failure is permitted.
  package var recover: (() throws -> Void)?
  /// Whether a save that failed starts over with new objects.
  package var startsOver = false

  /// Writer of the saves after a replacement or destruction.
  package static let laterWriter = 1
  /// Acknowledged when the replacement, move or destruction is complete.
  package static let mark = 40

  package init(_ url: URL, _ form: StoreForm, _ page: TrialPage) {
    (self.url, self.form, self.page) = (url, form, page)
  }

  private var _directory: URL { url.deletingLastPathComponent() }

  /// Records a permitted error, and removes its cause.
  private func _accept(_ error: any Error) throws {
    page.failureCount += 1
    guard let recover, page.failureCount == 1 else {
      throw TortureFailure(
        page.failureCount > 1
          ? "fails again after the fault is over: \(ErrorWords.of(error)), after \(page.words)"
          : ErrorWords.of(error))
    }
    page.words = ErrorWords.of(error)
    try recover()
  }

  private func _attempt<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
      do {
        return try body()
      } catch {
        try _accept(error)
      }
    }
  }

  private func _save(_ store: TrialStore, writer: Int = 0, isBig: Bool = false) throws {
    var refusal: (any Error)?
    do {
      try store.save(writer: writer, isBig: isBig, on: page) { error in
        do {
          try _accept(error)
          return (true, startsOver)
        } catch {
          refusal = error
          return (false, false)
        }
      }
    } catch {
      throw refusal ?? error
    }
  }

  private func _open(_ version: TrialModel = .first, isReadOnly: Bool = false) throws -> TrialStore {
    try _attempt { try TrialStore(url, form, version, isReadOnly: isReadOnly) }
  }

  private func _close(_ store: TrialStore) throws {
    try _attempt { try store.close() }
  }

  /// Does the work.
  package func run(_ work: Work) throws {
    if work == .replacement { page.setSaved(Self.laterWriter, StoreTemplate.otherCount) }
    switch work {
    case .creation, .firstSave:
      let store = try _open()
      for _ in 0..<(work == .creation ? 1 : 2) { try _save(store) }
      try _close(store)
    case .smallSaves:
      let store = try _open()
      for _ in 0..<3 { try _save(store) }
      try _check(store)
      try _close(store)
    case .bigSave:
      let store = try _open()
      try _save(store, isBig: true)
      try _save(store)
      try _check(store)
      try _close(store)
    case .reading: try _read()
    case .lightweightMigration:
      let store = try _open(.extended)
      try _save(store)
      try _close(store)
    case .mappingMigration: try _migrateByMapping()
    case .replacement: try _replace()
    case .moving: try _move()
    case .destruction: try _destroy()
    }
  }

  private func _check(_ store: TrialStore) throws {
    let saves = page.saves(of: 0)
    try _attempt { try StoreContent(store).check([[0: saves]]) }
  }

  private func _read() throws {
    _ = try _attempt {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: url, options: nil)
    }
    for isReadOnly in [true, false] {
      let store = try _open(isReadOnly: isReadOnly)
      try _check(store)
      if form.keepsHistory { try _attempt { try StoreContent(store).checkHistory() } }
      try _close(store)
    }
  }

  private func _migrateByMapping() throws {
    let migrated = _directory.appendingPathComponent("Migrated.sqlite")
    try _attempt {
      for suffix in ["", "-wal", "-shm", "-journal"]
      where FileManager.default.fileExists(atPath: migrated.path + suffix) {
        try FileManager.default.removeItem(atPath: migrated.path + suffix)
      }
      let manager = NSMigrationManager(
        sourceModel: TrialModel.first.model(), destinationModel: TrialModel.mapped.model())
      try manager.migrateStore(
        from: url, sourceType: NSSQLiteStoreType, options: form.options, with: TrialModel.mapping(),
        toDestinationURL: migrated, destinationType: NSSQLiteStoreType, destinationOptions: form.options)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrialModel.mapped.model())
    try _attempt {
      try coordinator.replacePersistentStore(
        at: url, destinationOptions: form.options, withPersistentStoreFrom: migrated,
        sourceOptions: form.options, ofType: NSSQLiteStoreType)
    }
    try _attempt {
      try coordinator.destroyPersistentStore(at: migrated, ofType: NSSQLiteStoreType, options: form.options)
    }
    let store = try _open(.mapped)
    try _save(store)
    try _close(store)
  }

  private func _replace() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrialModel.first.model())
    try _attempt {
      try coordinator.replacePersistentStore(
        at: url, destinationOptions: form.options,
        withPersistentStoreFrom: _directory.appendingPathComponent(StoreTemplate.otherName),
        sourceOptions: form.options, ofType: NSSQLiteStoreType)
    }
    page.acknowledge(Self.mark, 1)
    let store = try _open()
    try _save(store, writer: Self.laterWriter)
    try _close(store)
  }

  /// Moves the store's content to another file; the file itself stays.
  private func _move() throws {
    let store = try _open()
    try _attempt { try store.move(to: _directory.appendingPathComponent(StoreTemplate.movedName)) }
    page.acknowledge(Self.mark, 1)
    try _check(store)
    try _close(store)
  }

  private func _destroy() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TrialModel.first.model())
    try _attempt {
      try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: form.options)
    }
    page.acknowledge(Self.mark, 1)
    let store = try _open()
    try _save(store, writer: Self.laterWriter)
    try _close(store)
  }

  // MARK: Afterwards

  /// The checks of the store after the work has ended, in any way.
  package func questions(after work: Work) -> StoreQuestions {
    let outcomes: [SavesByWriter]
    switch work {
    case .replacement, .destruction:
      let after: SavesByWriter = [Self.laterWriter: page.saves(of: Self.laterWriter)]
      let isDone = page.saves(of: Self.mark).lowerBound == 1
      let before: SavesByWriter = [0: page.saves(of: 0)]
      outcomes = isDone ? [after] : [before, after]
    default: outcomes = [[0: page.saves(of: 0)]]
    }
    var questions = StoreQuestions(url, form, outcomes: outcomes)
    questions.versions = work.versions
    questions.checksHistory = work != .mappingMigration
    if work == .moving {
      questions.moved = (
        url.deletingLastPathComponent().appendingPathComponent(StoreTemplate.movedName),
        isDone: page.saves(of: Self.mark).lowerBound == 1
      )
    }
    questions.otherFiles = StoreTemplate.files(named: StoreTemplate.otherName)
      .union(StoreTemplate.files(named: "Migrated.sqlite"))
      .union(StoreTemplate.files(named: StoreTemplate.movedName))
    return questions
  }
}
