import Foundation
import Testing

@testable import CoreDataModelFiles

@Suite("Decoding archived plain values")
struct PlainArchiveTests {
  private func _archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
  }

  private func _decoded(_ data: Data) throws -> Any? {
    guard case .object(let object) = try PlainArchive.decode(data) else { return nil }
    return object
  }

  @Test func `an archive reads back as Foundation reads it`() throws {
    let object: NSDictionary = [
      "a": [1, 2.5, "x", Data([1])] as NSArray, "t": NSNumber(value: true),
      "b": ["c": Date(timeIntervalSince1970: 0)] as NSDictionary,
      "u": NSUUID(), "l": NSURL(string: "https://example.org/a?b")!, "s": NSSet(array: ["p", "q"]),
      "n": NSNull(),
    ]
    let data = try _archive(object)
    let theirs = try #require(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data) as? NSDictionary)
    let ours = try #require(try _decoded(data) as? NSDictionary)
    #expect(ours == theirs)
    #expect(ours["u"] as? NSUUID == object["u"] as? NSUUID)
    #expect((ours["a"] as? NSArray)?.count == 4)
    #expect(try _decoded(_archive("text")) as? String == "text")
    #expect(try _decoded(_archive(NSNumber(value: 7))) as? Int == 7)
    #expect(try _decoded(_archive(NSMutableArray(array: ["m"]))) is NSMutableArray)
  }

  @Test func `other classes are named, not made`() throws {
    let data = try _archive([NSAttributedString(string: "x")] as NSArray)
    guard case .needsClasses(let names) = try PlainArchive.decode(data) else {
      Issue.record("decoded an object of another class")
      return
    }
    #expect(names.contains("NSAttributedString"))
  }

  @Test func `what is no archive is refused`() throws {
    for data in [Data(), Data("hello".utf8), Data(repeating: 0xFF, count: 200)] {
      #expect(throws: PlainArchiveError.self) { try PlainArchive.decode(data) }
    }
    let plist = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
    #expect(throws: PlainArchiveError.self) { try PlainArchive.decode(plist) }
  }

  @Test func `a damaged archive is refused or read as something else`() throws {
    let data = try _archive(["a": [1, 2.5, "x"] as NSArray, "b": Date()] as NSDictionary)
    var refused = 0
    for position in stride(from: 0, to: data.count, by: 5) {
      for byte in [UInt8(0x08), 0x81, 0xA1, 0xD1] {
        var damaged = data
        damaged[position] = byte
        do { _ = try PlainArchive.decode(damaged) } catch { refused += 1 }
      }
    }
    #expect(refused > 0)
  }
}
