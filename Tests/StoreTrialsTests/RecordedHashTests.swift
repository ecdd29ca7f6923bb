import CoreData
import CoreDataStoreTrials
import Foundation
import Testing

/// Version hashes written by Core Data, compared with all available models: the editor's, the compiler's and
/// those inside stores.
@Suite(.enabled(if: Corpus.isPresent)) struct RecordedHashTests {
  private static func _hashes() -> Set<String> {
    var result: Set<String> = []
    func add(_ model: NSManagedObjectModel?) {
      for (name, hash) in model?.entityVersionHashesByName ?? [:] {
        result.insert(name + " " + hash.map { String(format: "%02x", $0) }.joined())
      }
    }
    for store in Corpus.all {
      if let model = try? NSManagedObjectModel.load(fromStoreAt: store.url), !model.isReconstructedFromTables
      {
        add(model)
      }
      for url in [store.contents, store.compiled].compactMap({ $0 }) { add(try? .load(contentsOf: url)) }
    }
    let models = Corpus.collection.appendingPathComponent("models")
    for name in (try? FileManager.default.contentsOfDirectory(atPath: models.path)) ?? [] {
      add(try? .load(contentsOf: models.appendingPathComponent(name)))
    }
    return result
  }

  @Test func `every recorded hash of a model that is here is reproduced`() throws {
    let data = try Data(contentsOf: Corpus.collection.appendingPathComponent("hash-vectors.json"))
    let vectors = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let recorded = try #require(vectors["entity_hashes"] as? [[String: Any]])
    let hashes = Self._hashes()
    let here = Set(Corpus.all.map { $0.name.replacing(".schema-only", with: "") })
    var (reproduced, reachable) = (0, 0)
    for vector in recorded {
      let key = "\(vector["entity"] ?? "") \(vector["sha256"] ?? "")"
      if hashes.contains(key) { reproduced += 1 }
      guard let stores = vector["stores"] as? [String], stores.contains(where: here.contains) else {
        continue
      }
      reachable += 1
      // These three belong to a store that was saved with another model, which is inside the store and
      // matches.
      #expect(hashes.contains(key), "\(key) of \(stores)")
    }
    #expect(reachable > 300)
    #expect(reproduced >= reachable)
    print("recorded hashes: \(recorded.count), of stores here: \(reachable), reproduced: \(reproduced)")
  }

  @Test func `a store made here has the metadata of one made by Core Data`() throws {
    let store = try #require(Corpus.all.first { $0.name == "duckduckgo/SyncMetadata_V3.sqlite" })
    let model = try NSManagedObjectModel.load(contentsOf: try #require(store.contents))
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("made-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = directory.appendingPathComponent("Made.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(
      coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
    let theirs = try NSPersistentStore.metadataForPersistentStore(with: store.url)
    let ours = try NSPersistentStore.metadataForPersistentStore(with: url)
    for key in [
      "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey", "_NSAutoVacuumLevel",
      "NSStoreType",
    ] {
      #expect(ours[key] as? String == theirs[key] as? String, "\(key)")
    }
    #expect(
      ours["NSStoreModelVersionHashes"] as? [String: Data] == theirs["NSStoreModelVersionHashes"]
        as? [String: Data])
    #expect(Set(theirs.keys).isSubset(of: ours.keys))
    #expect(model.versionChecksum == theirs["NSStoreModelVersionChecksumKey"] as? String)
  }

  @Test func `metadata of a file are set and its version stays`() throws {
    let sample = try SampleStore()
    try NSPersistentStoreCoordinator.setMetadata(
      ["mine": "here"], forPersistentStoreOfType: NSSQLiteStoreType, at: sample.url)
    let metadata = try NSPersistentStore.metadataForPersistentStore(with: sample.url)
    #expect(metadata["mine"] as? String == "here")
    #expect(SampleStore.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}
