import Foundation
import Testing

@testable import CoreDataStoreTools

/// Archives and property lists as JSON.
@Suite struct ArchiveJSONTests {
  private func _json(_ data: Data) throws -> NSObject {
    let text = try #require(ArchiveJSON.text(Array(data)))
    return try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject)
  }

  @Test func `a property list is written with all its values`() throws {
    let list: [String: Any] = [
      "whole": 7, "text": "a \"b\"", "list": ["x", ["y": true]], "none": [String](), "empty": [String: Any](),
      "half": 0.5,
    ]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    #expect(try _json(data) == list as NSDictionary)
  }

  @Test func `an archived dictionary with texts as keys is an object, with others a list of pairs`() throws {
    func archived(_ dictionary: NSDictionary) throws -> NSObject {
      try _json(NSKeyedArchiver.archivedData(withRootObject: dictionary, requiringSecureCoding: false))
    }
    #expect(
      try archived(["a": 1, "b": ["c": "d"] as NSDictionary]) == ["a": 1, "b": ["c": "d"]] as NSDictionary)
    #expect(try archived([1 as NSNumber: "one"]) == [[1, "one"] as NSArray] as NSArray)
  }
}
