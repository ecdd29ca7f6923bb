import CoreData
import CoreDataModelFiles
import Foundation
import Testing

@Suite("Compiled models of real sources", .enabled(if: AppleCorpus.isThere))
struct CompiledModelEqualityTests {
  private static let sources: [String] = {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: AppleCorpus.url.path)) ?? []
    return files.filter { $0.hasSuffix(".xcdatamodel.xml") }.sorted()
  }()

  @Test(arguments: sources)
  func `a compiled model equals the model of its source`(source: String) throws {
    let url = AppleCorpus.url.appendingPathComponent(source)
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = try #require(try CompiledModelFile.files(of: url.path, name: "Compiled").first)
    let compiled = directory.appendingPathComponent(file.name)
    try file.data.write(to: compiled)

    let model = try #require(NSManagedObjectModel(contentsOf: url))
    let read = try #require(NSManagedObjectModel(contentsOf: compiled))
    #expect(read == model)
    #expect(read.hash == model.hash)
    #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    // A model compares as before after a coordinator has adopted it.
    _ = NSPersistentStoreCoordinator(managedObjectModel: read)
    #expect(read.isEqual(model))
  }
}
