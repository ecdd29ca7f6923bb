import CoreDataSwiftLexer

/// Makes source written for Apple's Core Data compile on other platforms too.
///
/// `@objc` attributes are put under `#if canImport(ObjectiveC)` or removed, `#keyPath` and the selectors of
/// sort descriptors become strings, and imports name existing modules. Code that needs a manual change
/// (key-value observing, selectors, Combine) is reported with its location and a remedy.
package struct SourceAdoption: Sendable {
  /// How to treat attributes that only Apple's compilers accept.
  package enum AttributeRule: String, Sendable, CaseIterable {
    /// Keeps them on Apple's platforms.
    case `guard`
    /// Removes them.
    case strip
  }

  /// A change that must be made by hand.
  package struct Remark: Sendable, Hashable {
    package let line: Int
    package let column: Int
    package let message: String
    /// Whether the message is the same for all places of a package: reports show the first.
    package var isGeneral = false
  }

  package let original: String
  package let adopted: String
  package let remarks: [Remark]
  package var isChanged: Bool { original != adopted }

  /// Adapts one file.
  ///
  /// - Parameters:
  ///   - survey: Of the package's other files; without it, their declarations are unknown.
  ///   - path: The file's place, by which the survey knows its target.
  package init(
    _ source: String, attributes: AttributeRule = .guard, survey: AdoptionSurvey? = nil, path: String? = nil
  ) {
    original = source
    var survey = survey ?? AdoptionSurvey()
    survey.add(source)
    // Code that only Apple's platforms compile stays unchanged.
    let tokens = ConditionalBlocks.active(SourceLexer.tokens(in: source))
    let bytes = Array(source.utf8)
    let lineEnd = Self._lineEnd(of: bytes)
    var edits = AttributeEdits(bytes, attributes, lineEnd: lineEnd).edits(tokens)
    edits += KeyPathEdits(bytes).edits(tokens)
    edits += SelectorEdits.edits(tokens)
    edits += ImportEdits(survey, lineEnd: lineEnd).edits(tokens)
    adopted = Self._applied(edits, to: bytes)
    remarks = AdoptionRemarks(bytes, survey, path: path).remarks(tokens)
  }

  /// The line ending of the file: that of its first line.
  private static func _lineEnd(of bytes: [UInt8]) -> String {
    let first = bytes.firstIndex(of: UInt8(ascii: "\n"))
    return first.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false ? "\r\n" : "\n"
  }

  /// A replacement of bytes.
  struct Edit {
    let range: Range<Int>
    let text: String
  }

  private static func _applied(_ edits: [Edit], to bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    var position = 0
    for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where edit.range.lowerBound >= position {
      result += bytes[position..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      position = edit.range.upperBound
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }
}
