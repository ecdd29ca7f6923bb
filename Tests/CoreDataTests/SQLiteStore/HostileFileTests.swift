import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct HostileFileTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  private func _open(_ content: Data) throws -> StoreOpenError? {
    let url = fixture.directory.appendingPathComponent("other.sqlite")
    try content.write(to: url)
    return #expect(throws: StoreOpenError.self) {
      _ = try SQLiteStoreEngine(
        url: url, layout: fixture.layout, entities: fixture.layout.layouts.map { _ in NSEntityDescription() },
        persistentStore: nil)
    }
  }

  @Test func `a file of another format is refused and left alone`() throws {
    let content = Data("<?xml version=\"1.0\"?><database/>".utf8)
    let error = try _open(content)
    guard case .notADatabase = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try Data(contentsOf: fixture.directory.appendingPathComponent("other.sqlite")) == content)
  }

  @Test func `a database that is no store is refused`() throws {
    let path = fixture.directory.appendingPathComponent("plain.sqlite").path
    try Connection(path: path).execute("CREATE TABLE t(a)")
    let error = #expect(throws: StoreOpenError.self) {
      _ = try SQLiteStoreEngine(
        url: URL(fileURLWithPath: path), layout: fixture.layout,
        entities: fixture.layout.layouts.map { _ in NSEntityDescription() }, persistentStore: nil)
    }
    #expect(error?.cocoaCode == 134010)
  }

  @Test func `damaged bytes end in an error`() throws {
    try fixture.insert((0..<200).map { fixture.insertion("Route", ["name": .string("route \($0)")]) })
    try fixture.connection().checkpoint(.truncate)
    var content = try Data(contentsOf: fixture.url)
    for position in stride(from: 100, to: content.count, by: 37) { content[position] ^= 0x5a }
    let url = fixture.directory.appendingPathComponent("damaged.sqlite")
    try content.write(to: url)
    #expect(throws: (any Error).self) {
      let engine = try SQLiteStoreEngine(
        url: url, layout: fixture.layout, entities: fixture.layout.layouts.map { _ in NSEntityDescription() },
        persistentStore: nil)
      _ = try engine.fetch(fixture.plan("Route"))
    }
  }

  @Test func `cells of the wrong type are converted as SQLite does`() throws {
    try fixture.connection().execute(
      """
      INSERT INTO ZSTOP(Z_PK, Z_ENT, Z_OPT, ZCODE, ZCREATEDAT, ZNAME, ZACTIVE, ZFARE, ZPHOTO)
      VALUES(-5, 4, 'x', 'twelve', 'never', x'FF41', 7, 'much', 'text')
      """)
    let row = try #require(try fixture.engine.fetch(fixture.plan("Stop")).first?.row)
    #expect(row.version == 0)
    #expect(row[fixture.slot("code", in: "Stop")] == .int(0))
    #expect(row[fixture.slot("createdAt", in: "Stop")] == .double(0))
    #expect(row[fixture.slot("name", in: "Stop")] == .string("\u{FFFD}A"))
    #expect(row[fixture.slot("active", in: "Stop")] == .int(1))
    #expect(row[fixture.slot("fare", in: "Stop")] == .null)
    #expect(row[fixture.slot("photo", in: "Stop")] == .data(Data("text".utf8)))
  }

  @Test func `a UUID that is none is an error that names the row`() throws {
    try fixture.connection().execute("INSERT INTO ZSTOP(Z_PK, Z_ENT, Z_OPT, ZTOKEN) VALUES(3, 4, 1, x'0102')")
    let error = #expect(throws: SQLiteStoreError.self) { _ = try fixture.engine.fetch(fixture.plan("Stop")) }
    #expect(error?.description.contains("row 3 of ZSTOP") == true)
  }

  @Test func `an entity number the model does not know is an error`() throws {
    let library = try StoreFixture(Models.library)
    try library.connection().execute("INSERT INTO ZBOOK(Z_PK, Z_ENT, Z_OPT) VALUES(1, 77, 1)")
    let error = #expect(throws: SQLiteStoreError.self) { _ = try library.engine.fetch(library.plan("Book")) }
    #expect(error?.description.contains("no entity number 77") == true)
  }

  @Test func `keys at their end are an error`() throws {
    try fixture.connection().execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807")
    #expect(throws: SQLiteStoreError.self) { try fixture.insert("Route", [:]) }
  }

  @Test func `external data is read from its file and nowhere else`() throws {
    let key = try fixture.insert("Stop", [:])
    let name = UUID().uuidString
    let support = fixture.directory.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    try Data("large".utf8).write(to: support.appendingPathComponent(name))
    let connection = try fixture.connection()
    let slot = fixture.slot("scan", in: "Stop")
    try connection.query("UPDATE ZSTOP SET ZSCAN = ?", [.blob([2] + Array(name.utf8) + [0])])
    #expect(try fixture.engine.rows(for: [key])[0]?[slot] == .data(Data("large".utf8)))
    let path: [UInt8] = [2] + Array("../../Store.sqlite".utf8) + [0]
    try connection.query("UPDATE ZSTOP SET ZSCAN = ?", [.blob(path)])
    #expect(try fixture.engine.rows(for: [key])[0]?[slot] == .data(Data(path)))
    try connection.query("UPDATE ZSTOP SET ZSCAN = ?", [.blob([2] + Array(UUID().uuidString.utf8) + [0])])
    let row = try #require(try fixture.engine.rows(for: [key])[0])
    #expect(row[slot] == .null)
  }

  @Test func `External data in a link or a pipe is not read`() throws {
    let key = try fixture.insert("Stop", [:])
    let support = fixture.directory.appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    let secret = fixture.directory.appendingPathComponent("secret")
    try Data("secret".utf8).write(to: secret)
    let (link, pipe) = (UUID().uuidString, UUID().uuidString)
    try FileManager.default.createSymbolicLink(
      at: support.appendingPathComponent(link), withDestinationURL: secret)
    #expect(mkfifo(support.appendingPathComponent(pipe).path, 0o600) == 0)
    let slot = fixture.slot("scan", in: "Stop")
    for name in [link, pipe] {
      try fixture.connection().query("UPDATE ZSTOP SET ZSCAN = ?", [.blob([2] + Array(name.utf8) + [0])])
      let row = try #require(try fixture.engine.rows(for: [key])[0])
      #expect(row[slot] == .null)
    }
  }

  @Test func `damaged metadata leaves UUID and type`() throws {
    let uuid = fixture.engine.identifier
    try fixture.connection().execute("UPDATE Z_METADATA SET Z_PLIST = x'00FF'")
    let metadata = try SQLiteStoreFile(url: fixture.url).metadata()
    #expect(metadata["NSStoreUUID"] as? String == uuid)
    #expect(metadata["NSStoreType"] as? String == "SQLite")
    try fixture.connection().execute("UPDATE Z_METADATA SET Z_PLIST = NULL")
    #expect(try SQLiteStoreFile(url: fixture.url).metadata().count == 2)
  }

  @Test func `a pragma is no place for other SQL`() throws {
    var options = SQLiteStoreOptions()
    options.pragmas = ["cache_size": "1; DROP TABLE ZSTOP"]
    #expect(throws: StoreOpenError.self) { _ = try fixture.reopened(options) }
  }
}

@Suite struct StoreFileTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  @Test func `metadata is written and read`() throws {
    var metadata = try fixture.engine.metadata
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
    metadata["mine"] = "here"
    try fixture.engine.setMetadata(metadata)
    #expect(try fixture.engine.metadata["mine"] as? String == "here")
    #expect(
      try SQLiteStoreFile(url: fixture.url).metadata()["NSStoreUUID"] as? String == fixture.engine.identifier)
  }

  @Test func `a destroyed store is an empty database`() throws {
    fixture.engine.close()
    try SQLiteStoreFile(url: fixture.url).destroy()
    #expect(try fixture.connection().firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0))
    #expect(try fixture.reopened().isNew)
  }

  @Test func `a replaced store holds what was still in the log`() throws {
    try fixture.insert("Route", ["name": .string("copied")])
    let url = fixture.directory.appendingPathComponent("copy.sqlite")
    try StoreFiles(url: fixture.url).copy(to: StoreFiles(url: url))
    #expect(try Connection(path: url.path).firstValue("SELECT ZNAME FROM ZROUTE") == .text("copied"))
  }

  @Test func `a closed store says so`() throws {
    fixture.engine.close()
    let error = #expect(throws: SQLiteStoreError.self) { _ = try fixture.engine.count(fixture.plan("Route")) }
    guard case .closed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
