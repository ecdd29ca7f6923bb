import CoreData
import Foundation
import CoreDataSQLiteBinding

/// The checks at the end of each round, in a separate process: every acknowledged save is present and none is
/// partial, the file is intact, and the store opens, saves, is destroyed and created again.
package struct StoreQuestions {
  package let url: URL
  package let form: StoreForm
  /// Versions of the model that the store may be of, the newest first.
  package var versions: [TrialModel] = [.first]
  /// The permitted contents of the store.
  package let outcomes: [SavesByWriter]
  package var checksHistory = true
  /// Where the store was being moved, and whether the move was acknowledged. One that was not must succeed when repeated.
  package var moved: (url: URL, isDone: Bool)?
  /// Files that trials themselves create next to the store.
  package var otherFiles: Set<String> = []

  package init(_ url: URL, _ form: StoreForm, outcomes: [SavesByWriter]) {
    (self.url, self.form, self.outcomes) = (url, form, outcomes)
  }

  /// The first operation on the store, which varies because the first opening may repair a problem on which
  /// another one would fail.
  package enum FirstStep: Int, CaseIterable {
    case opening, readingMetadata, readingOnly, destroying, replacing

    /// Chooses the first step by the name of the round.
    package init(roundNamed name: String) {
      var hash: UInt32 = 2_166_136_261
      for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
      switch (hash >> 8) % 10 {
      case 0, 1, 2: self = .opening
      case 3, 4: self = .readingMetadata
      case 5, 6, 7: self = .readingOnly
      case 8: self = .destroying
      default: self = .replacing
      }
    }
  }

  /// - Throws: `TortureFailure` at the first failed check.
  package func ask(first step: FirstStep) throws {
    if let moved { try _asking("moving again") { try _checkMove(to: moved.url, isDone: moved.isDone) } }
    switch step {
    case .opening: break
    case .readingMetadata: try _asking("reading metadata") { _ = try _version() }
    case .readingOnly: if _mustBeThere { try _asking("reading only") { try _readOnly() } }
    case .destroying: return try _destroyAndCreate()
    case .replacing:
      try _asking("replacing") { try _replace() }
      return try _destroyAndCreate()
    }
    try _asking("opening") { try _open() }
    try _destroyAndCreate()
  }

  private func _asking(_ question: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      throw TortureFailure("\(question): \(ErrorWords.of(error))")
    }
  }

  /// Whether the store must exist.
  private var _mustBeThere: Bool {
    outcomes.allSatisfy { $0.values.contains { $0.lowerBound > 0 } }
  }

  /// The version of the store's model, from its metadata; the newest without a store.
  private func _version() throws -> TrialModel {
    do {
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: url, options: nil)
      return versions.first {
        $0.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      } ?? versions[0]
    } catch {
      if _mustBeThere { throw error }
      return versions[0]
    }
  }

  /// The version of the model with which to open the store. An older version migrates automatically to the
  /// newest, except to the mapped one: an inferred mapping would drop the text that the mapping model moves.
  func versionToOpen() throws -> TrialModel {
    versions.contains(.mapped) ? try _version() : versions[0]
  }

  private func _readOnly() throws {
    // A read-only store is not migrated.
    let store = try TrialStore(url, form, try _version(), isReadOnly: true)
    try StoreContent(store).check(outcomes)
    try store.close()
  }

  private func _open() throws {
    let store = try TrialStore(url, form, try versionToOpen())
    let content = try StoreContent(store)
    try content.check(outcomes)
    if form.keepsHistory, checksHistory { try content.checkHistory() }
    try _checkIntegrity()
    try _checkFiles()
    let last = try store.last(of: 0)
    try store.save(writer: 0, on: nil)
    guard try store.last(of: 0) == last + 1 else { throw TortureFailure("a save has no effect") }
    try store.close()
    let again = try TrialStore(url, form, store.version)
    guard try again.last(of: 0) == last + 1 else { throw TortureFailure("a save is gone after reopening") }
    _ = try StoreContent(again)
    try again.close()
  }

  private func _checkIntegrity() throws {
    let connection = try Connection(path: url.path, mode: .readOnly)
    let answer = try connection.firstValue("PRAGMA integrity_check")
    guard answer == .text("ok") else {
      throw TortureFailure("integrity_check says \(answer.map { "\($0)" } ?? "nothing")")
    }
  }

  /// Checks that only the store's own files are next to an open store.
  private func _checkFiles() throws {
    let known = StoreTemplate.files(named: url.lastPathComponent).union(["tmp"])
    let directory = url.deletingLastPathComponent().path
    let others = Set(try FileManager.default.contentsOfDirectory(atPath: directory)).subtracting(known)
      .subtracting(otherFiles)
    guard others.isEmpty else {
      throw TortureFailure("left behind after opening: \(others.sorted().joined(separator: ", "))")
    }
  }

  private func _checkMove(to destination: URL, isDone: Bool) throws {
    if !isDone {
      let store = try TrialStore(url, form)
      try store.move(to: destination)
      try store.close()
    }
    let moved = try TrialStore(destination, form)
    try StoreContent(moved).check(outcomes)
    try moved.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: destination.deletingLastPathComponent().path)
      .filter { $0.contains(".moving") }
    guard left.isEmpty else { throw TortureFailure("left behind by moving: \(left.joined(separator: ", "))") }
  }

  private func _replace() throws {
    let other = url.deletingLastPathComponent().appendingPathComponent("Another.sqlite")
    let store = try TrialStore(other, form)
    try store.save(writer: 5, on: nil)
    try store.close()
    try store.coordinator.replacePersistentStore(
      at: url, destinationOptions: nil, withPersistentStoreFrom: other, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    let replaced = try TrialStore(url, form)
    try StoreContent(replaced).check([[5: 1...1]])
    try replaced.close()
  }

  private func _destroyAndCreate() throws {
    try _asking("destroying") {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[0].model())
      if FileManager.default.fileExists(atPath: url.path) {
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
      }
    }
    try _asking("creating again") {
      let store = try TrialStore(url, form)
      try StoreContent(store).check([[:]])
      try store.save(writer: 0, on: nil)
      try StoreContent(store).check([[0: 1...1]])
      try store.close()
    }
  }
}
