import CoreData
import CoreDataStoreTrials
import Foundation
import Testing

@Suite(.enabled(if: Corpus.isPresent)) struct CorpusWritingTests {
  /// Writable stores: those that contain their model, and no triggers that only Apple's program can run.
  private static let _writable = Corpus.sound.filter { store in
    if store.name.hasPrefix("photos-") { return false }
    let model = try? NSManagedObjectModel.load(fromStoreAt: store.url)
    return model.map { !$0.isReconstructedFromTables } ?? false
  }

  @Test(arguments: _writable) func `only the cells that had to change do`(_ store: CorpusStore) throws {
    let copy = try StoreCopy(of: store.url)
    let trip = try RoundTrip(copy.url, model: NSManagedObjectModel.load(fromStoreAt: store.url))
    #expect(trip.differences == [])
    #expect(trip.inserted > 0 && trip.updated > 0 && trip.deleted > 0)
  }

  @Test(arguments: _writable) func `a new store of the model has the same tables`(_ store: CorpusStore) throws
  {
    let model = try NSManagedObjectModel.load(fromStoreAt: store.url)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: store.url)
    let version = try #require(metadata["NSPersistenceFrameworkVersion"] as? NSNumber).intValue
    let trial = try SchemaTrial(store.url, model: model, frameworkVersion: version)
    #expect(trial.missing == [])
    #expect(trial.extra == [])
    // The order of an entity's join tables in CareKit's store follows no known rule.
    #expect(trial.isInOrder || store.name.hasPrefix("carekit-"))
    // From 977 on, files without migrations are identical as they are, but for names without a known rule.
    if version >= 977, !trial.rules.contains(.migrated), !trial.rules.contains(.quotes),
      !trial.rules.contains(.selfJoins)
    {
      #expect(trial.rules == [])
    }
  }

  @Test func `a store without metadata says so`() throws {
    let store = try #require(Corpus.all.first { $0.isDamaged })
    let model = try NSManagedObjectModel.load(fromStoreAt: store.url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let error = #expect(throws: CocoaError.self) {
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: store.url,
        options: [NSReadOnlyPersistentStoreOption: true])
    }
    #expect(error?.code.rawValue == NSFileReadCorruptFileError)
    #expect(error.map { ($0 as NSError).localizedDescription.contains("Z_PLIST") } ?? false)
  }
}
