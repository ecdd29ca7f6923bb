/// What source written for Apple's Core Data needs to compile on other platforms too.
///
/// `@objc` attributes are put under `#if canImport(ObjectiveC)` or taken out, `#keyPath` becomes a string.
/// What takes a person to change (observation of keys, selectors, Combine) is reported with its place.
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

  package init(_ source: String, attributes: AttributeRule = .guard) {
    original = source
    // What Apple's platforms alone compile may stay as it is.
    let tokens = ConditionalBlocks.active(SourceLexer.tokens(in: source))
    let bytes = Array(source.utf8)
    var edits = AttributeEdits(bytes, attributes).edits(tokens)
    edits += KeyPathEdits.edits(tokens)
    adopted = Self._applied(edits, to: bytes)
    remarks = AdoptionRemarks.remarks(tokens)
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
