import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Stores written by Core Data: opening, reading and changing.
@Suite(.enabled(if: CorpusSchemaTests.isPresent)) struct AppleStoreTests {
  private let directory: URL
  private let layout: ModelLayout
  private let engine: SQLiteStoreEngine
  private let temporary: [ObjectIDSpace]

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("apple-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let url = directory.appendingPathComponent("Library.sqlite")
    try FileManager.default.copyItem(
      at: CorpusSchemaTests.root.appendingPathComponent("coredataplus/SampleModel2_V2.sqlite"), to: url)
    layout = try ModelLayout(Models.library)
    let entities = layout.layouts.map { _ in NSEntityDescription() }
    temporary = zip(layout.layouts, entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: nil, persistentStore: nil)
    }
    engine = try SQLiteStoreEngine(url: url, layout: layout, entities: entities, persistentStore: nil)
  }

  private func _layout(_ entity: String) -> PropertyLayout { layout.layoutsByName[entity]! }

  @Test func `its objects are read`() throws {
    let books = try engine.fetch(FetchPlan(layout: _layout("Book")))
    #expect(books.count == 3)
    let price = _layout("Book").slot(named: "price")!
    let prices = books.map { $0.row?[price] }
    #expect(prices.contains(.decimal(DecimalBox(Decimal(string: "10.11")!))))
    let counts = books.map { $0.row?[_layout("Book").slot(named: "pagesCount")!] }
    let pages = try engine.related(to: books.map(\.key), slot: _layout("Book").slot(named: "pages")!)
    #expect(pages.map { Value.int(Int64($0.count)) } == counts)
    try? FileManager.default.removeItem(at: directory)
  }

  @Test func `an insertion fires its triggers and goes on with its keys`() throws {
    var plan = FetchPlan(layout: _layout("Book"))
    plan.limit = 1
    let book = try #require(try engine.fetch(plan).first)
    let count = _layout("Book").slot(named: "pagesCount")!
    guard case .int(let before) = book.row?[count] else {
      Issue.record("no count")
      return
    }
    let page = _layout("Page")
    var row = Row(count: page.slots.count, version: 1)
    row.set(.reference(book.key), at: page.slot(named: "book")!)
    let id = NSManagedObjectID(temporaryIn: temporary[page.entityNumber - 1])
    try engine.commit(ChangeSet(inserted: [.init(id: id, row: row)]))
    #expect(id.key?.reference == 120)
    #expect(try engine.rows(for: [book.key])[0]?[count] == .int(before + 1))
    try? FileManager.default.removeItem(at: directory)
  }

  @Test func `its metadata is read`() throws {
    let metadata = try engine.metadata
    #expect(metadata["NSStoreUUID"] as? String == "4B0F5331-DE87-4D61-9947-8A976CCEB627")
    #expect((metadata["NSStoreModelVersionHashes"] as? [String: Data])?["Book"]?.count == 32)
    try? FileManager.default.removeItem(at: directory)
  }
}
