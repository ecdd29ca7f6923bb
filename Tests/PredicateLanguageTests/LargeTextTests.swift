import Foundation
import TestSupport
import Testing

@testable import CoreDataPredicateLanguage

/// Texts that are folded in windows.
@Suite struct LargeTextTests {
  private typealias Options = StringComparison.Options

  private static let _options: [StringComparison.Options] = [
    .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
  ]

  /// Letters with and without marks, marks in several orders, and scalars of one to four bytes.
  private static let _pieces = [
    "a", "A", "é", "e\u{301}", "e", "o\u{323}\u{301}", "o\u{301}\u{323}", "ß", "İ", "一", "鿿", "한", "𝄞", "👩‍🚀",
    " ", "\u{301}", "Ω",
  ]

  private func _text(_ count: Int, _ dice: inout SeededRandom) -> String {
    (0..<count).map { _ in Self._pieces.randomElement(using: &dice)! }.joined()
  }

  @Test(arguments: Self._options)
  func `windows find what the whole text has`(_ options: StringComparison.Options) {
    var dice = SeededRandom(seed: UInt64(options.rawValue))
    for _ in 0..<300 {
      var text = _text(60, &dice)
      var part = _text(Int.random(in: 1...4, using: &dice), &dice)
      text.withUTF8 { bytes in
        part.withUTF8 { wanted in
          let (whole, folded) = (FoldedText(bytes, options), FoldedText(wanted, options))
          var windows = FoldedWindows(bytes, options, size: 8)
          var scalars: [UInt32] = []
          while let window = windows.next() { scalars += window }
          #expect(scalars == whole.scalars)
          if folded.scalars.isEmpty { return }
          var (first, second) = (
            FoldedWindows(bytes, options, size: 8), FoldedWindows(bytes, options, size: 8)
          )
          let found = [
            first.contain(folded), second.begin(with: folded),
            FoldedWindows(bytes, options, size: 8).end(with: folded),
          ]
          let expected = [
            whole.contains(folded, atStart: false, atEnd: false),
            whole.contains(folded, atStart: true, atEnd: false),
            whole.contains(folded, atStart: false, atEnd: true),
          ]
          #expect(
            found == expected,
            "\(String(decoding: wanted, as: UTF8.self)) in \(String(decoding: bytes, as: UTF8.self))")
        }
      }
    }
  }

  @Test(arguments: Self._options)
  func `windows of two texts are equal where the whole texts are`(_ options: StringComparison.Options) {
    var dice = SeededRandom(seed: UInt64(options.rawValue) + 100)
    for _ in 0..<300 {
      let common = _text(40, &dice)
      for (left, right) in [
        (common.decomposedStringWithCanonicalMapping, common), (common.uppercased(), common),
        (common + "\u{301}", common), (common, common + _text(1, &dice)), ("a" + common, common + "a"),
      ] {
        let isSame = StringComparison.withBytes(left, right) { left, right in
          var (mine, theirs) = (
            FoldedWindows(left, options, size: 8), FoldedWindows(right, options, size: 5)
          )
          return mine.isSame(as: &theirs)
        }
        #expect(isSame == StringComparison.equal(left, right, options: options), "\(left) and \(right)")
      }
    }
  }

  @Test(arguments: [StringComparison.Options()] + Self._options)
  func `a large text is matched as a small one`(_ options: StringComparison.Options) throws {
    let filling = String(repeating: "Füllung, 一二三 und mehr. ", count: 12_000)
    let text = "Größe " + filling + "Nadel im Heuhaufen" + filling + "Schluß"
    #expect(text.utf8.count > 4 * FoldedWindows.size)
    for (pattern, fits) in [
      ("*Nadel im Heu*", true), ("Gr*Nadel*uß", true), ("*Nadeln*", false), ("Gr?*e *Schluß", true),
      ("*Schluß?", false),
      ("?*Heuhaufen*Heuhaufen*", false), ("*一二三 und mehr. Nadel*", true), ("*", true), ("Größe", false),
    ] {
      try #expect(StringComparison.like(text, pattern, options: options) == fits, "\(pattern)")
    }
    #expect(StringComparison.contains(text, "mehr. Nadel", options: options))
    #expect(!StringComparison.contains(text, "mehr. Faden", options: options))
    #expect(StringComparison.begins(text, with: "Größe F", options: options))
    #expect(StringComparison.ends(text, with: "mehr. Schluß", options: options))
    #expect(!StringComparison.ends(text, with: "Größe", options: options))
    #expect(StringComparison.equal(text, text, options: options))
    #expect(!StringComparison.equal(text, text + "ü", options: options))
    let isFolded = options.contains(.caseInsensitive)
    #expect(StringComparison.equal(text, text.replacing("N", with: "n"), options: options) == isFolded)
  }
}
