import CoreDataModelFiles
import Foundation
import TestSupport
import Testing

/// Property lists read by our own reader and by Foundation's.
@Suite struct PropertyListTests {
  private func binary(_ list: Any) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
  }

  private let _list: [String: Any] = [
    "text": "Grüße, 世界", "long": String(repeating: "0123456789", count: 30), "whole": -7, "large": Int64.max,
    "real": 0.25, "flag": true, "off": false, "bytes": Data([0, 1, 255]),
    "date": Date(timeIntervalSinceReferenceDate: 12.5), "list": [1, "two", [3.5]] as [Any],
    "tree": ["text": "text", "more": ["text": 1]] as [String: Any], "empty": [String: Any](),
  ]

  @Test func `binary lists are read as by Foundation`() throws {
    let found = try #require(PropertyList.object(in: try binary(_list)) as? [String: Any])
    #expect(NSDictionary(dictionary: found) == NSDictionary(dictionary: _list))
    #expect(found["whole"] as? Int == -7)
    #expect(found["flag"] as? Bool == true)
    #expect(found["date"] is Date)
    #expect(found["bytes"] is Data)
    #expect((found["tree"] as? [String: Any])?["text"] as? String == "text")
  }

  @Test func `lists in XML are read, too`() throws {
    let data = try PropertyListSerialization.data(fromPropertyList: _list, format: .xml, options: 0)
    let found = try #require(PropertyList.object(in: data) as? [String: Any])
    #expect(found["text"] as? String == "Grüße, 世界")
  }

  @Test func `damaged lists are no lists`() throws {
    let data = try binary(_list)
    #expect(PropertyList.object(in: Data()) == nil)
    #expect(PropertyList.object(in: Data("bplist00".utf8)) == nil)
    var random = SeededRandom(seed: 1)
    for _ in 0..<5_000 {
      var damaged = data
      for _ in 0..<3 { damaged[8 + random.below(data.count - 8)] ^= UInt8(1 + random.below(255)) }
      _ = PropertyList.object(in: damaged)
    }
  }
}
