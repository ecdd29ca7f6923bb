import Foundation
import TestSupport

extension SeededRandom {
  /// Returns a random member of a non-empty collection.
  mutating func one<C: Collection>(of choices: C) -> C.Element {
    choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
  }

  mutating func number(_ range: Range<Int>) -> Int { range.lowerBound + below(range.count) }
}

/// Values for both the data and the predicates, so that comparisons have matches.
enum Words {
  static let texts = [
    "Éclair", "E\u{301}clair", "eclair", "ÉCLAIR", "Straße", "STRASSE", "strasse", "İstanbul", "istanbul",
    "ISTANBUL", "ﬁn",
    "fin", "", "a%b_c", "x*y?z", "xAyBz", "日本語", "naïve", "NAIVE", "Zürich", "zurich", "👩‍👧‍👦 family", "O'Brien",
    "back\\slash",
    "tab\tbed", "Ω mega", "ω MEGA", "ς final", "Σ FINAL", "Æon", "æon", "aeon", "10", "9", "ﾊﾝｶｸ", "ハンカク",
    "Ǆ", "ǆ", "ǅ",
  ]
  static let parts = [
    "é", "e", "E", "É", "ss", "ß", "i", "I", "fi", "", "%", "*", "?", "_", "本", "ai", "ü", "U", "'", "\\",
    "Σ", "σ", "a", "1",
  ]
  static let patterns = [
    "*", "?clair", "*a?e*", "É*", "e*R", "x\\*y?z", "x*z", "", "??", "*ß*", "*ss*", "a%b_c", "日*", "*\\\\*",
    "Str*",
  ]
  static let expressions = [
    "É.*", "[a-z]+", ".*ss.*", "\\d+", "", ".{2}", "(?i)istanbul", "x.y.z", ".*\\\\.*", "[^a-z]*",
  ]
  static let dates: [Double] = [0, -86_400.5, 700_000_000.125, 31_536_000, 599_529_600, -63_114_076_800]
  static let decimals = ["0", "10.11", "-3.5", "12345678.25", "0.1", "100", "99.99"]
  static let doubles: [Double] = [0, 1.5, -2.25, 0.1, 1e10, 3, 19.99, -0.0]
  static let integers = [0, 1, -1, 7, 42, 100, 255, 32767, -32768, 3]
  static let uuids = (1...4).map { UUID(uuidString: "0000000\($0)-1111-2222-3333-44444444444\($0)")! }
  static let blobs = [Data(), Data([0]), Data([1, 2, 3]), Data([255, 0, 255])]
  static let urls = ["https://example.org/a", "https://example.org/b?q=1", "mailto:x@example.org"].map {
    URL(string: $0)!
  }
}
