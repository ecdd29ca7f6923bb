import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// The location of stores written by Apple's framework.
enum Corpus {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/corpus/stores")
    .path

  static let isPresent = FileManager.default.fileExists(atPath: root)

  /// Databases under the root, by relative path.
  static let stores: [String] = {
    let files = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
    return files.filter { FileExamination.isDatabase("\(root)/\($0)") }.sorted()
  }()

  /// Its metadata is missing; Core Data could not open it either.
  static let damaged = "plaso/macos-NotesV7.storedata"

  static let healthy = stores.filter { $0 != damaged }
}

/// The commands on stores written by Apple's framework.
@Suite(.enabled(if: Corpus.isPresent)) struct CorpusTests {
  private let shelf: Shelf

  init() throws { shelf = try Shelf() }

  /// Copies a store with its log, so that no bug can damage the original.
  private func take(_ store: String) throws -> String {
    let name = (store as NSString).lastPathComponent
    for suffix in ["", "-wal", "-shm"]
    where FileManager.default.fileExists(atPath: "\(Corpus.root)/\(store)\(suffix)") {
      try FileManager.default.copyItem(
        atPath: "\(Corpus.root)/\(store)\(suffix)", toPath: shelf.path(name + suffix))
    }
    return "@" + name
  }

  @Test(arguments: Corpus.stores)
  func `check complains of the damaged store only`(store: String) throws {
    let answer = shelf.run("check", try take(store), "--strict")
    #expect((answer.code == .success) == (store != Corpus.damaged), "\(answer.output)\(answer.error)")
  }

  @Test(arguments: Corpus.healthy)
  func `An export imported and exported again is the same`(store: String) throws {
    let name = try take(store)
    let first = shelf.run("export", name, "--output", "@first.ndjson")
    #expect(first.code == .success, "\(first.error)")
    let imported = shelf.run("import", "@first.ndjson", "--model", name, "--output", "@second.sqlite")
    // A model derived from tables is insufficient for writing.
    if imported.error.contains("holds no model") { return }
    #expect(imported.code == .success, "\(imported.error)")
    let second = shelf.run("export", "@second.sqlite", "--output", "@second.ndjson")
    #expect(second.code == .success, "\(second.error)")
    #expect(try shelf.text("first.ndjson") == shelf.text("second.ndjson"))
  }

  @Test(arguments: Corpus.healthy)
  func `The model inside can be written and read back`(store: String) throws {
    let name = try take(store)
    #expect(shelf.run("model", name, "--output", "@Inside.xcdatamodel").code == .success)
    let withModel = shelf.run("entities", name, "--json", "--model", "@Inside.xcdatamodel")
    #expect(withModel.code == .success, "\(withModel.error)")
    #expect(withModel.output == shelf.run("entities", name, "--json").output)
  }
}
