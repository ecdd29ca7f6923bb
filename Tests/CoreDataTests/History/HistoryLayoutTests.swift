import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// The property of each bit in ZCOLUMNS.
@Suite struct HistoryLayoutTests {
  /// Returns the layout of a store as opened.
  private func _layout(_ url: URL, _ schema: ModelSchema? = nil) throws -> (HistoryLayout, ModelLayout) {
    let connection = try Connection(path: url.path, mode: .readOnly, busyTimeout: 1)
    let cached = try ModelCache.read(connection, path: url.path)
    let layout = try ModelLayout(#require(schema ?? cached))
    let orders = ModelCache.propertyOrders(connection, path: url.path)
    return (HistoryLayout(try MappingBuilder.mapping(for: layout), propertyOrders: orders), layout)
  }

  @Test(.ofFiles, .enabled(if: CorpusSchemaTests.isPresent))
  func `to-many bits go as the model in an Apple store lists them`() throws {
    let original = CorpusSchemaTests.root.appendingPathComponent("ileapp/ios17-NoteStore.sqlite")
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    try FileManager.default.copyItem(at: original, to: url)
    defer {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
    let (history, layout) = try _layout(url)
    let account = try #require(layout.layoutsByName["ICAccount"])
    func bits(_ name: String) throws -> [Int] {
      try history.entities[account.entityNumber - 1].bits[#require(account.slot(named: name))]
    }
    // As in the transactions that changed these.
    try #expect(bits("notes") == [52])
    try #expect(bits("serverChangeTokens") == [55])
    try #expect(bits("deviceMigrationStates") == [56])
    try #expect(bits("invitations") == [58])
  }

  @Test(.ofFiles) func `a new store lists to-manys by name at every level`() throws {
    let stack = try TestStack(.sqlite)
    let (history, layout) = try _layout(stack.url)
    let novel = try #require(layout.layoutsByName["Novel"])
    let entity = history.entities[novel.entityNumber - 1]
    let toManys = entity.slots.map { novel.slots[$0] }.filter(\.isToMany).map(\.name)
    #expect(toManys == ["chapters", "tags"])
    #expect(entity.slots.suffix(2).allSatisfy { novel.slots[$0].isToMany })
  }
}
