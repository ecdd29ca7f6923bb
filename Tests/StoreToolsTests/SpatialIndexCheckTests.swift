import CoreDataSQLiteBinding
import Foundation
import Testing

/// `store check` of stores with R-tree indexes.
@Suite struct SpatialIndexCheckTests {
  private let shelf: Shelf

  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Place" representedClassName="Place">
            <attribute name="latitude" optional="YES" attributeType="Double"/>
            <attribute name="longitude" optional="YES" attributeType="Double"/>
            <fetchIndex name="byPlace">
                <fetchIndexElement property="latitude" type="RTree" order="ascending"/>
                <fetchIndexElement property="longitude" type="RTree" order="ascending"/>
            </fetchIndex>
        </entity>
    </model>
    """

  init() throws {
    shelf = try Shelf()
    try shelf.write(Self.model, to: "places")
    let lines = (1...20).map {
      #"{"$entity":"Place","$id":"Place/p\#($0)","latitude":\#($0),"longitude":1.5}"#
    }
    try shelf.write(lines.joined(separator: "\n"), to: "places.ndjson")
    let answer = shelf.run("import", "@places.ndjson", "--model", "@places", "--output", "@store.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
  }

  @Test func `a store with an R-tree passes`() throws {
    let answer = shelf.run("check", "@store.sqlite", "--strict")
    #expect(answer.code == .success, "\(answer.output)")
    #expect(try shelf.value("SELECT COUNT(*) FROM Z_RT_Place_byPlace") == .int(20))
  }

  @Test func `an export imported and exported again is the same`() throws {
    #expect(shelf.run("export", "@store.sqlite", "--output", "@first.ndjson").code == .success)
    #expect(
      shelf.run("import", "@first.ndjson", "--model", "@store.sqlite", "--output", "@second.sqlite").code
        == .success)
    #expect(shelf.run("export", "@second.sqlite", "--output", "@second.ndjson").code == .success)
    #expect(try shelf.text("first.ndjson") == shelf.text("second.ndjson"))
    #expect(shelf.run("check", "@second.sqlite", "--strict").code == .success)
  }

  @Test(arguments: [
    "DELETE FROM Z_RT_Place_byPlace WHERE Z_PK IN (3, 4)",
    "INSERT INTO Z_RT_Place_byPlace VALUES (77, 1, 1, 1, 1)",
  ])
  func `entries that do not match the rows are found and mended`(damage: String) throws {
    try shelf.damage(damage)
    let answer = shelf.run("check", "@store.sqlite")
    #expect(answer.code == .badInput)
    #expect(answer.output.contains("integrity"), "\(answer.output)")
    let mended = shelf.run("check", "@store.sqlite", "--repair", "--output", "@mended.sqlite")
    #expect(mended.code == .success, "\(mended.output)\(mended.error)")
    #expect(shelf.run("check", "@mended.sqlite", "--strict").code == .success)
    #expect(try shelf.value("SELECT COUNT(*) FROM Z_RT_Place_byPlace", in: "mended.sqlite") == .int(20))
  }

  @Test func `a trigger with the name of one of Core Data's is reported`() throws {
    try shelf.damage("CREATE TRIGGER Z_RT_x AFTER INSERT ON ZPLACE BEGIN DELETE FROM ZPLACE; END")
    let answer = shelf.run("check", "@store.sqlite")
    #expect(answer.output.contains("the trigger Z_RT_x has the name of one of Core Data's, but not its text"))
    #expect(!answer.output.contains("drop it"))
  }

  @Test func `rows are mended with the index`() throws {
    let name = "Z_RT_Place_byPlace_UPDATE"
    let trigger = try shelf.value("SELECT sql FROM sqlite_master WHERE name = '\(name)'")
    guard case .text(let sql)? = trigger else { throw CocoaError(.coderValueNotFound) }
    try shelf.damage("DROP TRIGGER \(name); UPDATE ZPLACE SET Z_OPT = NULL WHERE Z_PK = 5; \(sql)")
    let answer = shelf.run("check", "@store.sqlite", "--repair", "--output", "@mended.sqlite")
    #expect(answer.code == .success, "\(answer.output)\(answer.error)")
    #expect(try shelf.value("SELECT Z_OPT FROM ZPLACE WHERE Z_PK = 5", in: "mended.sqlite") == .int(1))
    #expect(shelf.run("check", "@mended.sqlite", "--strict").code == .success)
  }
}
