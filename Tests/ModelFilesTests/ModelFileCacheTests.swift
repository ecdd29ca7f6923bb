import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataModelFiles

@Suite("Reading a model file again")
final class ModelFileCacheTests {
  private let _url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).mom")

  deinit { try? FileManager.default.removeItem(at: _url) }

  /// Writes a model of one entity, `minutes` ago by the file's time.
  private func _write(_ entity: String, minutes: Double) throws {
    try Data("<model><entity name=\"\(entity)\"/></model>".utf8).write(to: _url)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60 * minutes)], ofItemAtPath: _url.path)
  }

  private func _entity(_ file: ReadModelFile) -> String? { file.schema.entities.first?.name }

  @Test func `an unchanged file is read once`() throws {
    try _write("One", minutes: 10)
    let first = try ModelFile.read(path: _url.path)
    #expect(try ModelFile.read(path: _url.path) === first)
    #expect(_entity(first) == "One")
  }

  @Test func `a file that is replaced by one of the same size is read anew`() throws {
    try _write("One", minutes: 10)
    #expect(_entity(try ModelFile.read(path: _url.path)) == "One")
    try _write("Two", minutes: 5)
    #expect(_entity(try ModelFile.read(path: _url.path)) == "Two")
  }

  @Test func `a file that is replaced by an older one is read anew`() throws {
    try _write("One", minutes: 5)
    #expect(_entity(try ModelFile.read(path: _url.path)) == "One")
    try _write("Two", minutes: 10)
    #expect(_entity(try ModelFile.read(path: _url.path)) == "Two")
  }

  @Test func `a file that has just been written is not kept, as its times may not tell of a change`()
    throws
  {
    try _write("One", minutes: 0)
    let first = try ModelFile.read(path: _url.path)
    #expect(try ModelFile.read(path: _url.path) !== first)
  }

  @Test func `a file that changes while it is read is not kept`() throws {
    let cache = ModelFileCache(limit: 1 << 20, seconds: 60)
    try _write("One", minutes: 10)
    let version = try #require(ModelFileCache.Version(settledFileAt: _url.path))
    _ = try cache.file(version) {
      try _write("Two", minutes: 9)
      return ReadModelFile(schema: ModelSchema(), remarks: [], path: _url.path)
    }
    #expect(cache.count == 0)
  }

  @Test func `the files used last are kept up to a size`() throws {
    try _write("One", minutes: 10)
    let size = try #require(ModelFileCache.Version(settledFileAt: _url.path)).size
    let cache = ModelFileCache(limit: 5 * size, seconds: 60)
    var reads: [Int] = []
    func use(_ minute: Int) throws {
      try _write("One", minutes: Double(minute))
      // The path is part of the version.
      let version = try #require(ModelFileCache.Version(settledFileAt: _url.path))
      _ = cache.file(version) {
        reads.append(minute)
        return ReadModelFile(schema: ModelSchema(), remarks: [], path: _url.path)
      }
    }
    for minute in 1...8 { try use(minute) }
    #expect(cache.count == 5)
    #expect(reads == Array(1...8))
  }

  @Test func `files that are no longer used are let go`() async throws {
    try _write("One", minutes: 10)
    let cache = ModelFileCache(limit: 1 << 20, seconds: 0)
    let version = try #require(ModelFileCache.Version(settledFileAt: _url.path))
    weak var file: ReadModelFile?
    do {
      let read = cache.file(version) { ReadModelFile(schema: ModelSchema(), remarks: [], path: _url.path) }
      file = read
    }
    while file != nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(cache.count == 0)
  }
}
