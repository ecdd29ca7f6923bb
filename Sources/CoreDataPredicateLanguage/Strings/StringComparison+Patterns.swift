import Foundation
import Synchronization

/// LIKE and MATCHES.
extension StringComparison {
  package static func like(_ string: String, _ pattern: String, options: Options = []) -> Bool {
    withBytes(string, pattern) { like($0, $1, options: options) }
  }

  /// Whether the whole of `string` fits `pattern`: `*` stands for any run of characters, `?` for one, a
  /// backslash makes either of them literal.
  package static func like(_ string: Bytes, _ pattern: Bytes, options: Options = []) -> Bool {
    let options = effective(options)
    if isASCII(string), isASCII(pattern) {
      let folds = options.contains(.caseInsensitive)
      return Wildcards(pattern.map { UInt32($0) }, folds: folds)
        .fit(count: string.count) { folds ? UInt32(lowered(string[$0])) : UInt32(string[$0]) }
    }
    if options.isEmpty {
      let scalars = text(string).unicodeScalars.map(\.value)
      return Wildcards(text(pattern).unicodeScalars.map(\.value), folds: false).fit(count: scalars.count) {
        scalars[$0]
      }
    }
    let scalars = FoldedText(string, options).scalars
    return Wildcards(FoldedText(pattern, options).scalars, folds: false).fit(count: scalars.count) {
      scalars[$0]
    }
  }

  /// Whether the whole of `string` fits the regular expression `pattern`.
  /// - Throws: `PredicateEvaluationError.badPattern` if the pattern is no regular expression.
  package static func matches(_ string: String, _ pattern: String, options: Options = []) throws -> Bool {
    let options = effective(options)
    let ignoresMarks = options.contains(.diacriticInsensitive)
    let subject = ignoresMarks ? string.folding(options: .diacriticInsensitive, locale: nil) : string
    let expression = try RegularExpressions.shared.expression(
      ignoresMarks ? pattern.folding(options: .diacriticInsensitive, locale: nil) : pattern,
      ignoringCase: options.contains(.caseInsensitive))
    let range = NSRange(location: 0, length: subject.utf16.count)
    return expression.firstMatch(in: subject, range: range) != nil
  }
}

/// A LIKE pattern taken apart.
private struct Wildcards {
  private enum _Element: Equatable {
    case scalar(UInt32)
    case one
    case any
  }

  private var _elements: [_Element] = []

  init(_ pattern: [UInt32], folds: Bool) {
    _elements.reserveCapacity(pattern.count)
    var isEscaped = false
    for scalar in pattern {
      switch scalar {
      case _ where isEscaped:
        // Only what would have a meaning needs the backslash; before anything else it stands for itself.
        if scalar != 0x2A, scalar != 0x3F, scalar != 0x5C { _elements.append(.scalar(0x5C)) }
        _elements.append(.scalar(folds ? Folding.loweredASCII(scalar) : scalar))
        isEscaped = false
      case 0x5C: isEscaped = true
      case 0x2A: if _elements.last != .any { _elements.append(.any) }
      case 0x3F: _elements.append(.one)
      default: _elements.append(.scalar(folds ? Folding.loweredASCII(scalar) : scalar))
      }
    }
    if isEscaped { _elements.append(.scalar(0x5C)) }
  }

  /// Whether a whole text fits. Never slower than the product of both lengths: only the last `*` is ever
  /// retried.
  func fit(count: Int, at scalar: (Int) -> UInt32) -> Bool {
    var (position, element) = (0, 0)
    var retry: (position: Int, element: Int)?
    while position < count {
      if element < _elements.count {
        switch _elements[element] {
        case .any:
          retry = (position, element + 1)
          element += 1
          continue
        case .one:
          position += 1
          while position < count, Folding.isMark(scalar(position)) { position += 1 }
          element += 1
          continue
        case .scalar(let wanted) where wanted == scalar(position):
          position += 1
          element += 1
          continue
        case .scalar: break
        }
      }
      guard let last = retry else { return false }
      retry = (last.position + 1, last.element)
      (position, element) = (last.position + 1, last.element)
    }
    return _elements[element...].allSatisfy { $0 == .any }
  }
}

/// Compiled regular expressions by pattern, bounded.
private final class RegularExpressions: Sendable {
  static let shared = RegularExpressions()

  private struct _Key: Hashable {
    let pattern: String
    let ignoresCase: Bool
  }

  private let _compiled = Mutex<[_Key: NSRegularExpression]>([:])
  private static let _capacity = 128

  func expression(_ pattern: String, ignoringCase: Bool) throws -> NSRegularExpression {
    let key = _Key(pattern: pattern, ignoresCase: ignoringCase)
    if let known = _compiled.withLock({ $0[key] }) { return known }
    let options: NSRegularExpression.Options = ignoringCase ? [.caseInsensitive] : []
    let expression: NSRegularExpression
    do {
      // By itself first: `a)(b` must not become an expression by being put in parentheses. Foundation takes
      // the empty expression, which nothing but the empty text fits, for none.
      if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern, options: options) }
      expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
    } catch {
      throw PredicateEvaluationError.badPattern(pattern)
    }
    _compiled.withLock {
      if $0.count >= Self._capacity { $0.removeAll(keepingCapacity: true) }
      $0[key] = expression
    }
    return expression
  }
}
