import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// The location of stores written by Apple's framework.
enum Corpus {
  /// The folder with both collections.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared").path

  static let isPresent = FileManager.default.fileExists(atPath: root + "/corpus/stores")

  /// Databases of both collections, by path below the root.
  static let stores: [String] = ["corpus/stores", "corpus-3/stores"].flatMap { collection in
    let files =
      FileManager.default.enumerator(atPath: "\(root)/\(collection)")?.compactMap { $0 as? String } ?? []
    return files.map { "\(collection)/\($0)" }.filter { FileExamination.isDatabase("\(root)/\($0)") }.sorted()
  }

  /// Its metadata is missing; Core Data could not open it either.
  static let damaged = "corpus/stores/plaso/macos-NotesV7.storedata"

  static let healthy = stores.filter { $0 != damaged }

  /// Stores with triggers that only Apple's own program can run.
  static let libraries = stores.filter { $0.contains("/photos-") }
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

  /// The bytes of a store's files, by name.
  private func _files(_ name: String) -> [String: Data] {
    var files: [String: Data] = [:]
    for suffix in ["", "-wal", "-journal"] {
      files[suffix] = FileManager.default.contents(atPath: shelf.path(String(name.dropFirst()) + suffix))
    }
    return files
  }

  @Test(arguments: Corpus.healthy)
  func `plain tables, a search, a timeline and a comparison leave the store as it is`(store: String) throws {
    let name = try take(store)
    let before = _files(name)
    let plain = shelf.run("flatten", name, "--output", "@plain.db", "--search")
    #expect(plain.code == .success, "\(plain.error)")
    let search = shelf.run("search", name, "a", "--limit", "50")
    #expect(search.code == .success, "\(search.error)")
    let timeline = shelf.run("timeline", name, "--format", "csv")
    #expect(timeline.code == .success, "\(timeline.error)")
    let difference = shelf.run("diff", name, name)
    #expect(difference.output == "No differences.\n", "\(difference.error)")
    #expect(_files(name) == before)
  }

  @Test(arguments: Corpus.stores)
  func `check complains of the damaged store only`(store: String) throws {
    let isLibrary = Corpus.libraries.contains(store)
    let answer = shelf.run(["check", try take(store)] + (isLibrary ? [] : ["--strict"]))
    #expect((answer.code == .success) == (store != Corpus.damaged), "\(answer.output)\(answer.error)")
  }

  @Test(arguments: Corpus.libraries)
  func `check names a program's triggers as such, and advises to keep them`(store: String) throws {
    let answer = shelf.run("check", try take(store))
    #expect(answer.output.contains("calls NSCoreDataTriggerUpdateAffectedObjectValue"), "\(answer.output)")
    #expect(!answer.output.contains("drop it"), "\(answer.output)")
    #expect(!answer.output.contains("Z_DA_") && !answer.output.contains("Z_RT_"), "\(answer.output)")
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
