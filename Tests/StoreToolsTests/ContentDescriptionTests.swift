import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import Synchronization
import Testing

@testable import CoreDataStoreTools

/// Texts inside of bytes, shown as a description says.
@Suite struct ContentDescriptionTests {
  private let _shelf: Shelf
  private let _layout: ModelLayout

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
    let reader = try StoreInput(_shelf.path("store.sqlite"), model: nil, Self._environment([:]) { _ in })
      .reader()
    _layout = reader.layout
    reader.close()
  }

  private static func _environment(
    _ variables: [String: String], _ warn: @escaping @Sendable (String) -> Void
  ) -> ToolEnvironment {
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    return ToolEnvironment(
      variables: variables, outputTerminal: terminal, errorTerminal: terminal, output: { _ in }, error: warn)
  }

  /// The descriptions with a user's file, and the warnings of reading it.
  private func _contents(_ text: String) throws -> (ContentDescriptions, warnings: String) {
    let directory = _shelf.path("config/coredata/contents")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try _shelf.write(text, to: "config/coredata/contents/mine.json")
    let warnings = Mutex("")
    let contents = ContentDescriptions(
      Self._environment(["XDG_CONFIG_HOME": _shelf.path("config")]) { text in warnings.withLock { $0 += text }
      })
    return (contents, warnings.withLock { $0 })
  }

  private static let _bytes: [UInt8] = {
    let list = ["body": "inside", "other": "not this"]
    let data = try? PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    return [UInt8](data ?? Data())
  }()

  private func _text(_ contents: ContentDescriptions, _ attribute: String, _ entity: String) throws -> String?
  {
    contents.text(in: Self._bytes, of: attribute, in: try _layout.entity(named: entity), _layout)
  }

  @Test(arguments: [
    #"{"entity": "Book", "attribute": "extra", "steps": ["body"]}"#,
    #"[{"entity": "Author", "attribute": "x", "steps": []}, {"entity": "Book", "attribute": "extra", "steps": ["body"]}]"#,
  ])
  func `a description says which text of the bytes is shown, also of a subentity`(_ text: String) throws {
    let (contents, warnings) = try _contents(text)
    #expect(warnings == "")
    try #expect(_text(contents, "extra", "Book") == "inside")
    try #expect(_text(contents, "extra", "Novel") == "inside")
    try #expect(_text(contents, "cover", "Book") == nil)
    try #expect(_text(contents, "extra", "Author") == nil)
  }

  @Test func `bytes without the way have no text`() throws {
    let (contents, _) = try _contents(#"{"entity": "Book", "attribute": "extra", "steps": ["gzip", "2"]}"#)
    try #expect(_text(contents, "extra", "Book") == nil)
  }

  @Test(arguments: ["", "{}", #"{"entity": "Book"}"#, "no JSON"])
  func `a file that is no description is named and left out`(_ text: String) throws {
    let (contents, warnings) = try _contents(text)
    #expect(warnings.hasPrefix("warning: ") && warnings.contains("mine.json"))
    try #expect(_text(contents, "extra", "Book") == nil)
  }

  @Test(.enabled(if: Corpus.isPresent)) func `the body of a note of Apple's Notes is text`() throws {
    let store = try #require(Corpus.stores.first { $0.hasSuffix("/ios17-NoteStore.sqlite") })
    let shelf = try Shelf()
    for suffix in ["", "-wal"]
    where FileManager.default.fileExists(atPath: "\(Corpus.root)/\(store)\(suffix)") {
      try FileManager.default.copyItem(
        atPath: "\(Corpus.root)/\(store)\(suffix)", toPath: shelf.path("notes" + suffix))
    }
    let found = shelf.run("search", "@notes", "e", "--entity", "ICNoteData", "--json").output
    let line = try #require(found.split(separator: "\n").first { $0.contains("gzip") })
    let hit = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    let object = try #require(hit["object"])
    let shown = shelf.run("show", "@notes", object)
    #expect(shown.code == .success)
    let words = try #require(
      hit["excerpt"]?.split { $0 == " " || $0 == "…" || $0 == "⏎" }.max { $0.count < $1.count })
    #expect(shown.output.contains(words), "\(shown.output)")
  }
}
