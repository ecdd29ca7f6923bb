import CoreData
import CoreDataStoreTrials
import Foundation
import Testing

/// The collections of stores written by Apple's framework, beside the package.
enum Corpus {
  static let collection = CorpusStore.collection(
    besidePackage: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent())
  /// Large schemas without rows.
  static let large = CorpusStore.all(
    in: collection.deletingLastPathComponent().appendingPathComponent("corpus-3"))
  static let all = CorpusStore.all(in: collection) + large
  static let sound = all.filter { !$0.isDamaged }
  static var isPresent: Bool { !all.isEmpty }
}

@Suite(.enabled(if: Corpus.isPresent)) struct CorpusReadingTests {
  private func _check(_ store: CorpusStore, _ model: NSManagedObjectModel) throws {
    let copy = try StoreCopy(of: store.url), reference = try StoreCopy(of: store.url)
    let before = try copy.contents()
    let trial = try ReadTrial(copy.url, model: model, reference: reference.url)
    #expect(trial.differences == [])
    #expect(trial.entities > 0)
    let after = try copy.contents()
    #expect(after.keys.sorted() == before.keys.sorted())
    #expect(after == before)
  }

  @Test(arguments: Corpus.sound) func `every cell is read with the model inside the store`(
    _ store: CorpusStore
  ) throws {
    try _check(store, NSManagedObjectModel.load(fromStoreAt: store.url))
  }

  @Test(arguments: Corpus.sound.filter { $0.contents != nil })
  func `every cell is read with the editors model`(_ store: CorpusStore) throws {
    let model = try NSManagedObjectModel.load(contentsOf: try #require(store.contents))
    try _check(store, model)
  }

  @Test(arguments: Corpus.sound.filter { $0.compiled != nil })
  func `every cell is read with the compiled model`(_ store: CorpusStore) throws {
    let model = try NSManagedObjectModel.load(contentsOf: try #require(store.compiled))
    try _check(store, model)
  }

  @Test(arguments: Corpus.sound) func `the model inside the store has the stores hashes`(_ store: CorpusStore)
    throws
  {
    let model = try NSManagedObjectModel.load(fromStoreAt: store.url)
    guard !model.isReconstructedFromTables else { return }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: store.url)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}
