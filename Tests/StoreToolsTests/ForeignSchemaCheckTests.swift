import CoreDataStoreTools
import Foundation
import Testing

/// `store check` of files with foreign views and triggers, and with links beside them.
@Suite struct ForeignSchemaCheckTests {
  private let shelf: Shelf

  init() throws {
    shelf = try Shelf()
    try shelf.makeStore()
  }

  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

  @Test func `A foreign trigger is reported`() throws {
    try shelf.damage("CREATE TRIGGER spy AFTER UPDATE ON ZBOOK BEGIN DELETE FROM ZTAG; END")
    let answer = shelf.run("check", "@store.sqlite", "--model", "@model")
    #expect(
      answer.output.contains("the trigger spy, which Core Data has not made, runs with changes of ZBOOK"))
    #expect(shelf.run("check", "@store.sqlite", "--model", "@model", "--strict").code == .badInput)
  }

  @Test func `A foreign view is reported, and never run`() throws {
    try shelf.damage("CREATE VIEW counted AS \(Self.endless) SELECT i FROM n")
    let answer = shelf.run("check", "@store.sqlite", "--model", "@model")
    #expect(answer.output.contains("counted is a view, which Core Data has not made"))
  }

  @Test(arguments: [true, false]) func `A view in place of a table is an error`(_ givesModel: Bool) throws {
    try shelf.damage("ALTER TABLE ZTAG RENAME TO was")
    try shelf.damage(
      "CREATE VIEW ZTAG AS \(Self.endless) SELECT i AS Z_PK, 6 AS Z_ENT, 1 AS Z_OPT, 'x' AS ZNAME FROM n")
    let answer = shelf.run(["check", "@store.sqlite"] + (givesModel ? ["--model", "@model"] : []))
    #expect(answer.code == .badInput)
    #expect((answer.output + answer.error).contains("ZTAG is a view"))
  }

  @Test(arguments: ["Z_PRIMARYKEY", "Z_METADATA"])
  func `A view replacing one of Core Data's tables is an error`(_ table: String) throws {
    try shelf.damage("ALTER TABLE \(table) RENAME TO was")
    try shelf.damage(
      "CREATE VIEW \(table) AS \(Self.endless) SELECT i AS Z_ENT, 'x' AS Z_NAME, 0 AS Z_SUPER, 0 AS Z_MAX, "
        + "1 AS Z_VERSION, 'u' AS Z_UUID, x'00' AS Z_PLIST, x'00' AS Z_CONTENT FROM n")
    #expect(shelf.run("check", "@store.sqlite").code != .success)
    // Other commands may work without the table.
    for command in ["info", "entities"] { _ = shelf.run(command, "@store.sqlite") }
  }

  @Test func `A view replacing the model's copy is reported, not run`() throws {
    try shelf.damage("ALTER TABLE Z_MODELCACHE RENAME TO was")
    try shelf.damage("CREATE VIEW Z_MODELCACHE AS \(Self.endless) SELECT x'00' AS Z_CONTENT FROM n")
    let answer = shelf.run("check", "@store.sqlite")
    #expect(answer.output.contains("Z_MODELCACHE is a view, which Core Data has not made"))
  }
}
