/// The combining marks that `StringComparison` ignores: scalars from U+0300 whose combining class isn't 0.
enum CombiningMarks {
  private static let _ranges = ScalarRanges(
    (UInt32(0x300)...0x1FFFF).lazy.filter { value in
      Unicode.Scalar(value).map { $0.properties.canonicalCombiningClass.rawValue != 0 } ?? false
    })

  /// Returns the ranges for a bracket expression, each bound spelled by `spell`.
  static func bracketed(_ spell: (UInt32) -> String) -> String { _ranges.bracketed(spell) }
}
