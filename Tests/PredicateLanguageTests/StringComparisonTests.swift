import CoreDataPredicateLanguage
import Foundation
import TestSupport
import Testing

@Suite struct StringComparisonTests {
  typealias Options = StringComparison.Options

  @Test(
    arguments: [
      ("a", "a", [], true), ("a", "A", [], false), ("a", "A", .caseInsensitive, true),
      ("é", "e\u{301}", [], false),
      ("é", "e\u{301}", .caseInsensitive, true), ("é", "E", .caseInsensitive, false),
      ("é", "e", .diacriticInsensitive, true),
      ("É", "e", .diacriticInsensitive, false), ("É", "e", [.caseInsensitive, .diacriticInsensitive], true),
      ("straße", "STRASSE", .caseInsensitive, true), ("ΣΑΣ", "σας", .caseInsensitive, true),
      ("ПРИВЕТ", "привет", .caseInsensitive, true),
      ("ı", "i", .caseInsensitive, false), ("İ", "i", .caseInsensitive, false),
      ("İ", "i", [.caseInsensitive, .diacriticInsensitive], true),
      ("ø", "o", .diacriticInsensitive, false),
      ("q\u{323}\u{307}", "q\u{307}\u{323}", .caseInsensitive, true),
      ("a", "A", [.normalized, .caseInsensitive], false), ("日本", "日本", .caseInsensitive, true),
      ("ǖ", "u", .diacriticInsensitive, true),
      ("ẞ", "ss", .caseInsensitive, true), ("ᾧ", "ὧι", .caseInsensitive, true),
      ("", "", .caseInsensitive, true), ("", "a", .caseInsensitive, false),
    ] as [(String, String, Options, Bool)])
  func equality(left: String, right: String, options: Options, isEqual: Bool) {
    #expect(StringComparison.equal(left, right, options: options) == isEqual)
    #expect(StringComparison.equal(right, left, options: options) == isEqual)
  }

  @Test(
    arguments: [
      ("Hauptbahnhof", "bahn", [], true), ("Hauptbahnhof", "Bahn", [], false),
      ("Hauptbahnhof", "BAHN", .caseInsensitive, true),
      ("Zürich", "ZURI", [.caseInsensitive, .diacriticInsensitive], true),
      ("Zürich", "zuri", .caseInsensitive, false),
      ("cafe\u{301}", "cafe", .caseInsensitive, false), ("cafe\u{301}", "café", .caseInsensitive, true),
      ("cafe\u{301}", "cafe", [], true),
      ("abc", "", [], true), ("", "a", [], false), ("aaab", "aab", [], true),
      ("aaab", "AAB", .caseInsensitive, true), ("ab", "abc", .caseInsensitive, false),
      ("großer", "SSER", .caseInsensitive, true),
    ] as [(String, String, Options, Bool)])
  func `containment`(text: String, part: String, options: Options, isIn: Bool) {
    #expect(StringComparison.contains(text, part, options: options) == isIn)
  }

  @Test func `beginnings and ends`() {
    #expect(StringComparison.begins("Straße", with: "STRASS", options: .caseInsensitive))
    #expect(!StringComparison.begins("Straße", with: "strass"))
    #expect(StringComparison.ends("CAFÉ", with: "fe", options: [.caseInsensitive, .diacriticInsensitive]))
    #expect(!StringComparison.ends("CAFÉ", with: "fe", options: .caseInsensitive))
    #expect(StringComparison.ends("abc", with: ""))
    #expect(StringComparison.begins("abc", with: "abc") && !StringComparison.begins("ab", with: "abc"))
  }

  @Test(arguments: [
    ("abc", "abc", true), ("abc", "ab", false), ("abc", "a*", true), ("abc", "*c", true),
    ("abc", "*b*", true), ("abc", "a?c", true),
    ("abc", "??", false), ("", "*", true), ("", "?", false), ("a*c", "a\\*c", true), ("abc", "a\\*c", false),
    ("a\\d", "a\\d", true),
    ("aXbXc", "*X?", true), ("a\nb", "a*b", true), ("é", "?", true), ("e\u{301}x", "?x", true),
    ("日本語", "日*", true), ("mississippi", "*s*p*", true),
    ("a\\", "a\\", true), ("a?", "a\\?", true),
  ])
  func `wildcards`(text: String, pattern: String, fits: Bool) throws {
    try #expect(StringComparison.like(text, pattern) == fits)
  }

  @Test func `wildcards with options`() throws {
    try #expect(StringComparison.like("Donald Duck", "*DUCK", options: .caseInsensitive))
    try #expect(StringComparison.like("Zoë", "z?e", options: [.caseInsensitive, .diacriticInsensitive]))
    try #expect(!StringComparison.like("Zoë", "zoe", options: .caseInsensitive))
  }

  @Test func `many wildcards stay fast`() throws {
    let text = String(repeating: "a", count: 5_000)
    try #expect(!StringComparison.like(text, String(repeating: "a*", count: 200) + "b"))
  }

  @Test func `regular expressions fit as a whole`() throws {
    #expect(try StringComparison.matches("ab", "a|ab"))
    #expect(try !StringComparison.matches("abc", "ab"))
    #expect(try StringComparison.matches("ABC", "[a-c]+", options: .caseInsensitive))
    #expect(try StringComparison.matches("é", "e", options: .diacriticInsensitive))
    #expect(try !StringComparison.matches("a\n", "a"))
  }

  @Test func `binary order is of bytes`() {
    #expect(StringComparison.compare("Z", "a", .binary) == .orderedAscending)
    #expect(StringComparison.compare("a", "ab", .binary) == .orderedAscending)
    #expect(StringComparison.compare("\u{FFFF}", "\u{10000}", .binary) == .orderedAscending)
    #expect(StringComparison.compare("é", "e\u{301}", .binary) == .orderedDescending)
  }

  @Test func `order without case`() {
    #expect(StringComparison.compare("a", "B", .caseInsensitive) == .orderedAscending)
    #expect(StringComparison.compare("STRASSE", "straße", .caseInsensitive) == .orderedSame)
    #expect(StringComparison.compare("a", "Z", options: .caseInsensitive) == .orderedAscending)
  }

  @Test(arguments: [
    StringComparison.Ordering.localized, .localizedCaseInsensitive, .localizedStandard,
  ])
  func `the fast order of plain text is the locales`(ordering: StringComparison.Ordering) {
    var generator = SeededRandom(seed: 3)
    let alphabet = Array("abAB zZ019")
    func word() -> String {
      String(
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in
          alphabet.randomElement(using: &generator) ?? "a"
        })
    }
    for _ in 0..<3000 {
      let (left, right) = (word(), word())
      let expected =
        switch ordering {
        case .localized: left.localizedCompare(right)
        case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
        default: left.localizedStandardCompare(right)
        }
      #expect(StringComparison.compare(left, right, ordering) == expected, "“\(left)” “\(right)”")
    }
  }

  @Test func `bytes that are no UTF-8 are compared`() throws {
    let broken: [UInt8] = [0x61, 0xFF, 0xC3]
    try broken.withUnsafeBufferPointer { bytes in
      #expect(StringComparison.equal(bytes, bytes, options: .caseInsensitive))
      #expect(
        StringComparison.contains(
          bytes, UnsafeBufferPointer(rebasing: bytes[0..<1]), options: .caseInsensitive))
      try #expect(!StringComparison.like(bytes, UnsafeBufferPointer(rebasing: bytes[0..<1])))
      #expect(StringComparison.compare(bytes, bytes, .localized) == .orderedSame)
    }
  }
}
