import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores written here from the models of the corpus, and their hashes from a second implementation.
@Suite(.enabled(if: SharedCorpus.root != nil, "needs the files in ../shared/corpus"))
struct CorpusHashTests {
  /// The models of the corpus: the editor's, the compiler's, and those inside stores.
  private static let files: [URL] = {
    let roots = [AppleCorpus.url, AppleCorpus.third]
    return roots.flatMap { root -> [URL] in
      let all = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
      return all.sorted().map { root.appendingPathComponent($0) }.filter { file in
        if file.lastPathComponent.hasSuffix(".xcdatamodel.xml") || file.pathExtension == "mom" { return true }
        let start = try? FileHandle(forReadingFrom: file).read(upToCount: 15)
        return start == Data("SQLite format 3".utf8)
      }
    }
  }()

  private static func model(_ file: URL) -> NSManagedObjectModel? {
    if ["xml", "mom"].contains(file.pathExtension) { return try? .load(contentsOf: file) }
    guard let model = try? NSManagedObjectModel.load(fromStoreAt: file), !model.isReconstructedFromTables
    else { return nil }
    return model
  }

  @Test func `a store has the hashes of the second implementation`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hashes-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    var (stores, entities) = (0, 0)
    for (number, file) in Self.files.enumerated() {
      guard let model = Self.model(file), !model.entities.isEmpty else { continue }
      let expected = IndependentHash.hashes(of: ModelSchema(model)).mapValues { Data($0) }
      let url = directory.appendingPathComponent("\(number).sqlite")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      do {
        let store = try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
      } catch let error as CocoaError where error.code.rawValue == NSPersistentStoreIncompatibleSchemaError {
        // Attributes without a type, which a file cannot store.
        continue
      }
      let metadata = try NSPersistentStore.metadataForPersistentStore(with: url)
      #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == expected, "\(file.path)")
      stores += 1
      entities += expected.count
    }
    print("hashes compared with the second implementation: \(stores) stores, \(entities) entities")
    #expect(stores > 100)
  }

  @Test func `the hashes in Apple's stores are those of the models inside`() throws {
    var (right, all) = (0, 0)
    for file in Self.files where !["xml", "mom"].contains(file.pathExtension) {
      guard let model = Self.model(file),
        let stored = NSManagedObjectModel.versionHashes(
          in: try NSPersistentStore.metadataForPersistentStore(with: file))
      else { continue }
      for (name, hash) in model.entityVersionHashesByName {
        guard let theirs = stored[name] else { continue }
        all += 1
        if theirs == hash { right += 1 }
        #expect(theirs == hash, "\(name) in \(file.path)")
      }
    }
    print("hashes of Apple's stores: \(right) of \(all)")
    #expect(all > 300)
  }
}
