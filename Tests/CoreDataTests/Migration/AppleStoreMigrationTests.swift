import Foundation
import Testing

@testable import CoreData

/// Stores written by Core Data, which contain their models.
@Suite struct AppleStoreMigrationTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("../shared/corpus")
    .standardizedFileURL
  private static let hasCorpus = FileManager.default.fileExists(atPath: corpus.path)

  @Test(
    .ofFiles,
    .enabled(if: hasCorpus),
    arguments: [
      (
        "duckduckgo/Bookmarks_V1.sqlite",
        "models/BrowserServicesKit__BookmarksModel__BookmarksModel-6.xcdatamodel.xml", "BookmarkEntity", 10
      ),
      (
        "duckduckgo/Bookmarks_V3.sqlite",
        "models/BrowserServicesKit__BookmarksModel__BookmarksModel-4.xcdatamodel.xml", "BookmarkEntity", 10
      ),
      (
        "coredataplus/SampleModel_V1.sqlite",
        "compiled/coredataplus/SampleModel/SampleModel.momd/SampleModel2.mom", "Car", 120
      ),
    ])
  func `Stores written by Core Data migrate to later versions`(
    store: String, model: String, entity: String, least: Int
  ) throws {
    let fixture = try MigrationFixture()
    for suffix in ["", "-wal"] {
      let source = Self.corpus.appendingPathComponent("stores/\(store)\(suffix)").path
      guard FileManager.default.fileExists(atPath: source) else { continue }
      try FileManager.default.copyItem(atPath: source, toPath: fixture.url.path + suffix)
    }
    try fixture.bundle(.load(fromStoreAt: fixture.url))
    let new = try NSManagedObjectModel.load(contentsOf: Self.corpus.appendingPathComponent(model))
    let before = try fixture.open(new) { context in
      let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      for object in objects {
        for name in object.entity.attributesByName.keys { _ = object.value(forKey: name) }
      }
      return objects.count
    }
    #expect(before >= least)
    // Afterwards it is an ordinary store.
    try fixture.open(new, options: nil) { context in
      try #expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) == before)
    }
  }
}
