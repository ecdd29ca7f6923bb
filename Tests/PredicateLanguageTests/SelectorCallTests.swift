import CoreDataPredicateLanguage
import Foundation
import Testing

/// FUNCTION(target, 'selector', …) on plain values.
@Suite struct SelectorCallTests {
  private func _value(_ selector: String, of target: PredicateValue, _ argument: PredicateValue? = nil) throws
    -> PredicateValue
  {
    let arguments = argument.map { [ExpressionTree.constant($0)] } ?? []
    return try ExpressionTree.customFunction(.constant(target), selector, arguments).value(
      for: ValueSubject(ada))
  }

  @Test(
    arguments: [
      ("intValue", 2.75, 2), ("longLongValue", .bool(true), 1), ("doubleValue", 3, 3.0),
      ("floatValue", 2.5, 2.5),
      ("boolValue", 0, .bool(false)), ("boolValue", 2, .bool(true)), ("decimalValue", 7, .decimal(7)),
      ("stringValue", 7, "7"), ("description", 2.5, "2.5"),
    ] as [(String, PredicateValue, PredicateValue)])
  func `a number`(_ selector: String, _ target: PredicateValue, _ expected: PredicateValue) throws {
    #expect(try _value(selector, of: target) == expected)
  }

  @Test func `a number and another one`() throws {
    #expect(try _value("isEqualToNumber:", of: 2, 2.0) == .bool(true))
    #expect(try _value("isEqualToNumber:", of: 2, 3) == .bool(false))
  }

  @Test(
    arguments: [
      ("length", "añ", nil, 2), ("uppercaseString", "aß", nil, "ASS"), ("lowercaseString", "É", nil, "é"),
      ("capitalizedString", "ann lee", nil, "Ann Lee"), ("intValue", "12 m", nil, 12),
      ("doubleValue", "1.5x", nil, 1.5), ("boolValue", "YES", nil, .bool(true)),
      ("stringByAppendingString:", "a", "b", "ab"), ("hasPrefix:", "abc", "ab", .bool(true)),
      ("hasSuffix:", "abc", "ab", .bool(false)), ("isEqualToString:", "a", "a", .bool(true)),
      ("containsString:", "abc", "b", .bool(true)),
      ("componentsSeparatedByString:", "a-b", "-", ["a", "b"]),
    ] as [(String, PredicateValue, PredicateValue?, PredicateValue)])
  func `a text`(
    _ selector: String, _ target: PredicateValue, _ argument: PredicateValue?, _ expected: PredicateValue
  ) throws {
    #expect(try _value(selector, of: target, argument) == expected)
  }

  @Test func `a date`() throws {
    #expect(try _value("timeIntervalSinceReferenceDate", of: .date(5)) == 5.0)
    #expect(try _value("timeIntervalSince1970", of: .date(0)) == 978_307_200.0)
    #expect(try _value("timeIntervalSinceDate:", of: .date(5), .date(2)) == 3.0)
    #expect(try _value("dateByAddingTimeInterval:", of: .date(5), 2) == .date(7))
    guard case .double(let sinceNow) = try _value("timeIntervalSinceNow", of: .date(0)) else {
      Issue.record("no number")
      return
    }
    #expect(sinceNow < -7e8)
  }

  @Test func `a URL, a UUID and data`() throws {
    let url = PredicateValue.url(try #require(URL(string: "https://example.org/a/b.txt?q=1#top")))
    let parts = [
      "absoluteString": "https://example.org/a/b.txt?q=1#top", "path": "/a/b.txt",
      "lastPathComponent": "b.txt",
      "pathExtension": "txt", "host": "example.org", "scheme": "https", "query": "q=1", "fragment": "top",
    ]
    for (selector, part) in parts { #expect(try _value(selector, of: url) == .string(part)) }
    let bare = PredicateValue.url(try #require(URL(string: "a")))
    for selector in ["host", "scheme", "query", "fragment"] {
      #expect(try _value(selector, of: bare) == .null)
    }
    let id = UUID()
    #expect(try _value("UUIDString", of: .uuid(id)) == .string(id.uuidString))
    #expect(try _value("length", of: .data(Data([1, 2]))) == 2)
  }

  @Test(
    arguments: [
      ("count", nil, 3), ("firstObject", nil, "a"), ("lastObject", nil, "c"),
      ("allObjects", nil, ["a", "b", "c"]),
      ("objectAtIndex:", 1, "b"), ("objectAtIndex:", 0, "a"), ("objectAtIndex:", 3, nil),
      ("objectAtIndex:", -1, nil),
    ] as [(String, PredicateValue?, PredicateValue)])
  func `a collection`(_ selector: String, _ argument: PredicateValue?, _ expected: PredicateValue) throws {
    #expect(try _value(selector, of: ["a", "b", "c"], argument) == expected)
  }

  @Test func `an empty collection has no first or last element`() throws {
    for selector in ["firstObject", "lastObject"] {
      #expect(try _value(selector, of: .collection([])) == .null)
    }
  }

  @Test func `a dictionary`() throws {
    let entries = PredicateValue.dictionary(["b": 2, "a": 1])
    #expect(try _value("count", of: entries) == 2)
    #expect(try _value("allKeys", of: entries) == ["a", "b"])
    #expect(try _value("objectForKey:", of: entries, "b") == 2)
    #expect(try _value("objectForKey:", of: entries, "c") == .null)
    guard case .collection(let values) = try _value("allValues", of: entries) else {
      Issue.record("no collection")
      return
    }
    #expect(values.count == 2)
  }

  @Test(arguments: ["frobnicate", "intValue:", "hasPrefix"])
  func `another selector, or another count of arguments`(
    _ selector: String
  ) {
    for target in ["a", 1, .date(1), .data(Data()), ["a"], .dictionary([:])] as [PredicateValue] {
      #expect(throws: PredicateEvaluationError.self) { try _value(selector, of: target) }
    }
  }
}
