import Foundation
import Synchronization

/// LIKE and MATCHES.
extension StringComparison {
  package static func like(_ string: String, _ pattern: String, options: Options = []) throws -> Bool {
    try withBytes(string, pattern) { try like($0, $1, options: options) }
  }

  /// Whether the whole `string` matches `pattern`: `*` matches any run of characters, `?` a single one; a
  /// backslash escapes either.
  /// - Throws: `PredicateEvaluationError.tooExpensive` for a pattern that takes far more steps than both
  ///   texts have characters.
  package static func like(_ string: Bytes, _ pattern: Bytes, options: Options = []) throws -> Bool {
    let options = effective(options)
    if isASCII(string), isASCII(pattern) {
      let folds = options.contains(.caseInsensitive)
      return try LongPatterns.wildcards(pattern, options, .ascii) {
        Wildcards($0.map { UInt32($0) }, folds: folds)
      }
      .fit(atMost: string.count) {
        $0 == string.count ? nil : folds ? UInt32(lowered(string[$0])) : UInt32(string[$0])
      }
    }
    let wildcards = LongPatterns.wildcards(pattern, options, options.isEmpty ? .plain : .folded) {
      Wildcards(Self.scalars(of: $0, options), folds: false)
    }
    if FoldedWindows.isLarge(string) {
      var windows = FoldedWindows(string, options)
      return try wildcards.fit(
        atMost: string.count * 4, forgetting: { windows.forget(before: $0) }, at: { windows.scalar(at: $0) })
    }
    let scalars = Self.scalars(of: string, options)
    return try wildcards.fit(atMost: scalars.count) { $0 == scalars.count ? nil : scalars[$0] }
  }

  /// Returns the scalars of a text, folded unless there are no options.
  static func scalars(of bytes: Bytes, _ options: Options) -> [UInt32] {
    options.isEmpty ? text(bytes).unicodeScalars.map(\.value) : FoldedText(bytes, options).scalars
  }

  /// Number of progress reports after which a search is aborted: ICU sends one per ten thousand steps.
  private static let _regexPatience = 20_000

  /// Whether the whole `string` matches the regular expression `pattern`.
  /// - Throws: `PredicateEvaluationError.badPattern` for an invalid regular expression, `.tooExpensive` if
  ///   the search takes too many steps or too much memory.
  package static func matches(_ string: String, _ pattern: String, options: Options = []) throws -> Bool {
    let options = effective(options)
    let ignoresMarks = options.contains(.diacriticInsensitive)
    let subject = ignoresMarks ? string.folding(options: .diacriticInsensitive, locale: nil) : string
    let expression = try RegularExpressions.shared.expression(
      ignoresMarks ? pattern.folding(options: .diacriticInsensitive, locale: nil) : pattern,
      ignoringCase: options.contains(.caseInsensitive))
    let range = NSRange(location: 0, length: subject.utf16.count)
    var isFound = false
    var isGivenUp = false
    var reports = 0
    // `firstMatch` returns nil both without a match and for a search that ICU has aborted.
    expression.enumerateMatches(in: subject, options: [.reportProgress, .reportCompletion], range: range) {
      match, flags, stop in
      if flags.contains(.internalError) { isGivenUp = true }
      if match != nil { isFound = true }
      reports += 1
      if isFound || reports > _regexPatience { stop.pointee = true }
    }
    if !isFound, isGivenUp || reports > _regexPatience {
      throw PredicateEvaluationError.tooExpensive("MATCHES", pattern)
    }
    return isFound
  }
}

/// Caches the last parsed long LIKE pattern, which is usually tested on row after row.
private enum LongPatterns {
  enum Form { case ascii, plain, folded }

  private struct Known {
    let bytes: [UInt8]
    let options: StringComparison.Options
    let form: Form
    let wildcards: Wildcards
  }

  private static let _last = Mutex<Known?>(nil)
  private static let _minimumLength = 1024

  static func wildcards(
    _ pattern: StringComparison.Bytes, _ options: StringComparison.Options, _ form: Form,
    _ make: (StringComparison.Bytes) -> Wildcards
  ) -> Wildcards {
    guard pattern.count >= _minimumLength else { return make(pattern) }
    let known = _last.withLock { $0 }
    if let known, known.form == form, known.options == options, known.bytes.count == pattern.count,
      known.bytes.withUnsafeBufferPointer({ StringComparison.isSame($0[...], pattern[...]) })
    {
      return known.wildcards
    }
    let made = make(pattern)
    let new = Known(bytes: Array(pattern), options: options, form: form, wildcards: made)
    _last.withLock { $0 = new }
    return made
  }
}

/// A parsed LIKE pattern.
private struct Wildcards: Sendable {
  private enum _Element: Equatable, Sendable {
    case scalar(UInt32)
    case one
    case any
  }

  private var _elements: [_Element] = []
  /// Minimum number of scalars in a matching text.
  private var _minimumCount = 0
  /// Number of steps allowed in addition to reading both texts.
  private static let _patience = 100_000_000

  init(_ pattern: [UInt32], folds: Bool) {
    _elements.reserveCapacity(pattern.count)
    var isEscaped = false
    for scalar in pattern {
      switch scalar {
      case _ where isEscaped:
        // A backslash before any other character is literal.
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
    _minimumCount = _elements.count { $0 != .any }
  }

  /// Whether a whole text matches. Takes at most the product of both lengths in steps, since only the last
  /// `*` is ever retried.
  ///
  /// - Parameters:
  ///   - count: The most scalars that the text may have.
  ///   - forget: Called with an index before which no scalar is asked for any more.
  ///   - scalar: Returns the scalar at an index; nil at the end.
  /// - Throws: `PredicateEvaluationError.tooExpensive` if that product is too large.
  func fit(atMost count: Int, forgetting forget: (Int) -> Void = { _ in }, at scalar: (Int) -> UInt32?) throws
    -> Bool
  {
    guard count >= _minimumCount else { return false }
    var (position, element) = (0, 0)
    var steps = count + _elements.count + Self._patience
    var retry: (position: Int, element: Int)?
    while let current = scalar(position) {
      steps -= 1
      if steps < 0 { throw PredicateEvaluationError.tooExpensive("LIKE", "of \(_elements.count) characters") }
      if element < _elements.count {
        switch _elements[element] {
        case .any:
          retry = (position, element + 1)
          element += 1
          forget(position)
          continue
        case .one:
          position += 1
          while let next = scalar(position), Folding.isMark(next) { position += 1 }
          element += 1
          continue
        case .scalar(let wanted) where wanted == current:
          position += 1
          element += 1
          continue
        case .scalar: break
        }
      }
      guard let last = retry else { return false }
      retry = (last.position + 1, last.element)
      forget(last.position)
      (position, element) = (last.position + 1, last.element)
    }
    return _elements[element...].allSatisfy { $0 == .any }
  }
}

/// A bounded cache of compiled regular expressions by pattern.
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
      // Compile it alone first: parentheses must not make a pattern like `a)(b` valid. Foundation rejects the
      // empty expression, which matches only the empty text.
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
