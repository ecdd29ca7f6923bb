import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// Constants of `--where` are read as the type of what they are compared with.
@Suite struct TypedPredicateTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore(
      "store.sqlite",
      """
      {"$entity":"Author","$id":"Author/p1","name":"Ada","age":36}
      {"$entity":"Author","$id":"Author/p2","name":"Bob","age":50}
      {"$entity":"Book","$id":"Book/p1","title":"a","pages":300,"published":"2020-12-31T23:30:00Z","author":"Author/p1"}
      {"$entity":"Book","$id":"Book/p2","title":"b","pages":12,"published":"2021-01-01T00:00:00Z","inPrint":true,"cost":"9.90"}
      {"$entity":"Book","$id":"Book/p3","title":"c","published":"2021-01-01T14:05:09.25Z","isbn":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}
      {"$entity":"Book","$id":"Book/p4","title":"7","published":"2021-03-07T12:00:00Z","author":"Author/p2"}
      {"$entity":"Book","$id":"Book/p5","title":"e","page":"https://example.org/a"}
      """)
  }

  private func _answer(_ predicate: String, _ words: [String] = [], _ entity: String = "Book") -> Shelf.Answer
  {
    _shelf.run(
      [
        "fetch", "@store.sqlite", entity, "--model", "@model", "--where", predicate, "--columns",
        entity == "Book" ? "title" : "name", "--format", "csv",
      ] + words)
  }

  /// The titles of the books that a predicate holds for, or the names of authors.
  private func _found(_ predicate: String, _ words: String..., entity: String = "Book") throws -> [String] {
    let answer = _answer(predicate, words, entity)
    try #require(answer.code == .success, "\(answer.error)")
    return answer.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
  }

  // MARK: Dates

  @Test(arguments: [
    ("published > '2021-01-01'", ["c", "7"]),
    ("published >= '2021-01-01'", ["b", "c", "7"]),
    ("published < '2021-01-01'", ["a"]),
    ("'2021-01-01' < published", ["c", "7"]),
    ("published == '2021-01-01'", ["b", "c"]),
    ("published == '2021-01-01 14:05'", ["c"]),
    ("published == '2021-01-01T14:05:09Z'", ["c"]),
    ("published == '2021-01-01T14:05:09.25Z'", ["c"]),
    ("published == '2021-01-01T14:05:09.5Z'", []),
    ("published == '2021-01'", ["b", "c"]),
    ("published == '2021'", ["b", "c", "7"]),
    ("published == '2020-12'", ["a"]),
    ("published != '2021-01-01' AND published != nil", ["a", "7"]),
    ("published IN {'2020-12-31', '2021-03-07'}", ["a", "7"]),
    ("published BETWEEN {'2021-01-01', '2021-02-01'}", ["b", "c"]),
    ("published > '2021-01-01T15:00:00+01:00'", ["c", "7"]),
    ("published == CAST('2021-01-01', 'NSDate')", ["b"]),
    ("NOT (published >= '2021-01-01') AND published != nil", ["a"]),
    ("published == nil", ["e"]),
  ])
  func `A text beside a date is a date`(_ predicate: String, _ titles: [String]) throws {
    try #expect(_found(predicate) == titles)
  }

  @Test func `Dates are found through relationships and in subqueries`() throws {
    try #expect(_found("ANY books.published > '2021-03-01'", entity: "Author") == ["Bob"])
    try #expect(_found("books.@max.published < '2021-01-01'", entity: "Author") == ["Ada"])
    try #expect(
      _found("SUBQUERY(books, $b, $b.published < '2021-01-01').@count > 0", entity: "Author") == ["Ada"])
    try #expect(
      _found("SUBQUERY(books, $b, $b.published == '2021-03').@count == '1'", entity: "Author") == ["Bob"])
    try #expect(_found("books CONTAINS 'Book/p4'", entity: "Author") == ["Bob"])
  }

  @Test func `A zone is that of dates that name none, and of what is shown`() throws {
    try #expect(_found("published == '2021-01-01'", "--zone", "+01:00") == ["a", "b", "c"])
    try #expect(_found("published == '2020-12-31'", "--zone", "America/New_York") == ["a", "b"])
    try #expect(_found("published >= '2021-01-01T00:00:00Z'", "--zone", "+01:00") == ["b", "c", "7"])
    let shown = _shelf.run(
      "fetch", "@store.sqlite", "Book", "--model", "@model", "--where", "published == '2021-03'", "--columns",
      "published", "--format", "csv", "--zone", "Europe/Berlin")
    #expect(shown.output == "published\r\n2021-03-07T13:00:00+01:00\r\n")
  }

  @Test func `There is no such zone`() {
    let answer = _answer("TRUEPREDICATE", ["--zone", "Europe/Berln"])
    #expect(answer.code == .usage)
    #expect(answer.error.contains("There is no time zone 'Europe/Berln'. Did you mean 'Europe/Berlin'?"))
  }

  // MARK: Other types

  @Test(arguments: [
    ("isbn == '6f9619ff-8b86-d011-b42d-00c04fc964ff'", ["c"]),
    ("pages > '100'", ["a"]),
    ("pages IN {'12', 300}", ["a", "b"]),
    ("cost == '9.9'", ["b"]),
    ("inPrint == 'yes'", ["b"]),
    ("title == 7", ["7"]),
    ("page == 'https://example.org/a'", ["e"]),
    ("SELF == 'Book/p4'", ["7"]),
    ("SELF == 'p4'", ["7"]),
    ("SELF IN {'Book/p1', 'Book/p2'}", ["a", "b"]),
    ("author == 'Author/p1'", ["a"]),
    ("author != nil AND author != 'Author/p1'", ["7"]),
    ("title BEGINSWITH '7'", ["7"]),
    ("{'2021-03-07T12:00:00Z', '2020-01-01'} CONTAINS published", ["7"]),
    ("title == '2021-01-01'", []),
  ])
  func `A text beside another type is a value of it`(_ predicate: String, _ titles: [String]) throws {
    try #expect(_found(predicate) == titles)
  }

  // MARK: Texts that do not fit

  @Test(arguments: [
    ("published > 'rubbish'", 12, "a date such as"),
    ("title == 'rubbish' AND published > 'rubbish'", 35, "a date such as"),
    ("published == '2021-13-01'", 13, "a date such as"),
    ("published == '2021-02-31'", 13, "a date such as"),
    ("published IN {'2021-01-01', 'soon'}", 28, "a date such as"),
    ("published BEGINSWITH '2021'", 21, "dates are compared with"),
    ("published == CAST('soon', 'NSDate')", 18, "a date such as"),
    ("pages > 'many'", 8, "a whole number"),
    ("inPrint == 'perhaps'", 11, "true or false"),
    ("isbn == 'x'", 8, "a UUID"),
    ("title == 1.5", 9, "a text in quotes"),
    ("SELF == 'Ada'", 8, "the name of an object such as 'Book/p12'"),
    ("author == 'Autor/p1'", 10, "the model has no entity “Autor”"),
    ("chapters.@count > 'x'", 18, "a number"),
  ])
  func `A text that does not fit is an error with its place`(
    _ predicate: String, _ offset: Int, _ words: String
  ) {
    let answer = _answer(predicate)
    #expect(answer.code == .usage)
    #expect(answer.error.contains(words), "\(answer.error)")
    let lines = answer.error.split(separator: "\n")
    #expect(
      lines.last?.firstIndex(of: "^").map { lines.last!.distance(from: lines.last!.startIndex, to: $0) - 2 }
        == offset)
  }
}

@Suite struct TimeZoneTextTests {
  @Test(arguments: [
    // Winter, summer, the hour that is missing, and the first of the hours that come twice.
    ("2021-01-01T12:00:00", "2021-01-01T11:00:00Z"), ("2021-07-01T12:00:00", "2021-07-01T10:00:00Z"),
    ("2021-03-28T02:30:00", "2021-03-28T01:30:00Z"), ("2021-03-28T12:00:00", "2021-03-28T10:00:00Z"),
    ("2021-10-31T02:30:00", "2021-10-31T00:30:00Z"), ("2021-10-31T12:00:00", "2021-10-31T11:00:00Z"),
    ("2021-10-31T00:00:00", "2021-10-30T22:00:00Z"), ("2021-11-01T00:00:00", "2021-10-31T23:00:00Z"),
  ])
  func `A time on a clock is a moment`(_ clock: String, _ moment: String) throws {
    let zone = try TimeZoneText("Europe/Berlin")
    #expect(try ISODate.text(zone.moment(ofClock: #require(ISODate.seconds(clock)))) == moment)
  }

  @Test(arguments: ["+01:00", "+01", "+0100"])
  func `A zone is given by its offset`(_ text: String) throws {
    #expect(try TimeZoneText(text).text(0) == "2001-01-01T01:00:00+01:00")
  }

  @Test(arguments: ["UTC", "Z", "+00:00", "Etc/UTC", "GMT"])
  func `UTC is written as Z`(_ text: String) throws {
    #expect(try TimeZoneText(text).text(0.5) == "2001-01-01T00:00:00.5Z")
  }

  @Test(arguments: [1e300, -1e300, 3e11, .infinity, -.infinity, .nan, 2.4e11, -2.4e11])
  func `Any number is written`(_ seconds: Double) throws {
    let zone = try TimeZoneText("Europe/Berlin")
    #expect(!zone.text(seconds).isEmpty && !zone.shown(seconds).isEmpty)
  }

  @Test(arguments: ["", "Mars", "+19", "+1", "+01:60"])
  func `Other text is no zone`(_ text: String) {
    #expect(throws: ToolFailure.self) { try TimeZoneText(text) }
  }
}
