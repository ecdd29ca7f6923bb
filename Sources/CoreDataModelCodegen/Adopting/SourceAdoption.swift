import CoreDataSwiftLexer

/// What source written for Apple's Core Data needs to compile on other platforms too.
///
/// `@objc` attributes are put under `#if canImport(ObjectiveC)` or taken out, `#keyPath` and the selectors of sort
/// descriptors become strings, imports name the modules that there are. What takes a person to change
/// (observation of keys, selectors, Combine) is reported with its place and a remedy.
package struct SourceAdoption: Sendable {
  /// What to do with attributes that only Apple's compilers take.
  package enum AttributeRule: String, Sendable, CaseIterable {
    /// Keeps them for Apple's platforms.
    case `guard`
    /// Takes them out.
    case strip
  }

  /// Something left for a person.
  package struct Remark: Sendable, Hashable {
    package let line: Int
    package let column: Int
    package let message: String
  }

  package let original: String
  package let adopted: String
  package let remarks: [Remark]
  package var isChanged: Bool { original != adopted }

  /// Adapts one file.
  ///
  /// - Parameter survey: of the package's other files; without it, what they declare is not known.
  package init(
    _ source: String, attributes: AttributeRule = .guard, survey: AdoptionSurvey? = nil
  ) {
    original = source
    var survey = survey ?? AdoptionSurvey()
    survey.add(source)
    // What Apple's platforms alone compile may stay as it is.
    let tokens = ConditionalBlocks.active(SourceLexer.tokens(in: source))
    let bytes = Array(source.utf8)
    let lineEnd = Self._lineEnd(of: bytes)
    var edits = AttributeEdits(bytes, attributes, lineEnd: lineEnd).edits(tokens)
    edits += KeyPathEdits(bytes).edits(tokens)
    edits += SelectorEdits.edits(tokens)
    edits += ImportEdits(survey, lineEnd: lineEnd).edits(tokens)
    adopted = Self._applied(edits, to: bytes)
    remarks = AdoptionRemarks(bytes, survey).remarks(tokens)
  }

  /// What ends the file's lines: that of the first.
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
