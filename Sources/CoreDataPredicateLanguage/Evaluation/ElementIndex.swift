import Foundation
import Synchronization

/// The elements of a constant collection by value, so that IN and CONTAINS test one element instead of all.
///
/// An index answers exactly what `PredicateEvaluator.isEqual` answers for the elements one by one: it finds
/// candidates by a key that is the same for equal values, and compares those.
final class ElementIndex: Sendable {
  /// From how many elements on an index costs less than comparing each.
  static let threshold = 8

  /// A value that is the same for equal elements. Unequal elements may share one.
  private enum _Key: Hashable {
    /// A number that a `Double` holds exactly.
    case number(Double)
    case integer(Int64)
    /// Text without what the options ignore. Canonically equivalent texts share a key.
    case text(String)
    case identity(AnyHashable)
    case value(PredicateValue)
  }

  /// The collection. Keeping it keeps its storage, by which the memo recognizes it.
  let elements: [PredicateValue]
  let options: StringComparison.Options
  /// The state of identities at which objects were indexed; nil if none of theirs can change.
  private let _identities: Int?
  // Unchecked: written by the initializer only; keys compare objects' identities, which are immutable.
  @exclusivity(unchecked) nonisolated(unsafe) private let _first: [_Key: Int]
  /// The next element of the same key; -1 after the last.
  private let _next: [Int]
  /// Elements that have no key, compared one by one: decimals, numbers beyond any `Int64`, collections.
  private let _others: [Int]

  /// Indexes a collection; nil while identities of its objects are changing.
  init?(
    _ elements: [PredicateValue], _ options: StringComparison.Options,
    _ evaluator: PredicateEvaluator<some PredicateSubject>
  ) {
    let subject = evaluator.subject
    let identities = subject.identityVersion
    var first: [_Key: Int] = Dictionary(minimumCapacity: elements.count)
    var next = [Int](repeating: -1, count: elements.count)
    var others: [Int] = []
    var canChange = false
    for (position, element) in elements.enumerated() {
      guard let key = Self._key(element, options, subject) else {
        others.append(position)
        continue
      }
      if case .object(let object) = element, !subject.hasFinalIdentity(object) { canChange = true }
      if var other = first[key] {
        // Equal elements are one.
        while other >= 0, !evaluator.isEqual(element, elements[other], options) { other = next[other] }
        if other >= 0 { continue }
        next[position] = first[key]!
      }
      first[key] = position
    }
    if canChange, identities == nil || identities != subject.identityVersion { return nil }
    self.elements = elements
    self.options = options
    _identities = canChange ? identities : nil
    _first = first
    _next = next
    _others = others
  }

  /// Whether the index still answers for its elements: no object among them has got another identity since.
  func isCurrent(for subject: some PredicateSubject) -> Bool {
    _identities == nil || _identities == subject.identityVersion
  }

  /// Whether some element equals `value`.
  func contains(_ value: PredicateValue, _ evaluator: PredicateEvaluator<some PredicateSubject>) -> Bool {
    func isEqual(_ position: Int) -> Bool { evaluator.isEqual(value, elements[position], options) }
    guard let key = Self._key(value, options, evaluator.subject) else {
      return elements.indices.contains(where: isEqual)
    }
    var position = _first[key] ?? -1
    while position >= 0 {
      if isEqual(position) { return true }
      position = _next[position]
    }
    return _others.contains(where: isEqual)
  }

  /// Returns the key of a value; nil for one whose equals may have different keys.
  private static func _key(
    _ value: PredicateValue, _ options: StringComparison.Options, _ subject: some PredicateSubject
  ) -> _Key? {
    switch value {
    case .string(let text): return .text(StringComparison.folded(text, options: options))
    case .int(let number):
      return number.magnitude <= 1 << 53 ? .number(Double(number)) : .integer(number)
    case .bool(let flag): return .number(flag ? 1 : 0)
    case .double(let number): return number.magnitude <= 0x1p53 ? .number(number) : nil
    case .object(let object): return .identity(subject.predicateIdentity(of: object))
    case .null, .date, .data, .uuid, .url: return .value(value)
    case .decimal, .collection, .dictionary: return nil
    }
  }
}

/// The index of a comparison's constant collection, made when the collection is searched for the second time.
final class ElementIndexMemo: Sendable {
  private enum _State {
    case unused
    case seen([PredicateValue])
    case indexed(ElementIndex)
  }

  private let _state = Mutex(_State.unused)

  /// Returns the index of `elements`; nil if comparing each costs less, or if it cannot be used now.
  func index<Subject: PredicateSubject>(
    of elements: [PredicateValue], _ options: StringComparison.Options,
    _ evaluator: PredicateEvaluator<Subject>
  ) -> ElementIndex? {
    guard elements.count >= ElementIndex.threshold, !options.contains(.localeSensitive) else { return nil }
    let (index, isKnown) = _state.withLock { state -> (ElementIndex?, Bool) in
      switch state {
      case .indexed(let index) where index.options == options && index.elements._isSame(as: elements):
        return (index, true)
      case .seen(let known) where known._isSame(as: elements): return (nil, true)
      default:
        state = .seen(elements)
        return (nil, false)
      }
    }
    if let index, index.isCurrent(for: evaluator.subject) { return index }
    guard isKnown, let index = ElementIndex(elements, options, evaluator) else { return nil }
    _state.withLock { $0 = .indexed(index) }
    return index
  }
}

extension [PredicateValue] {
  /// Whether both arrays share their storage, and so their elements.
  fileprivate func _isSame(as other: [PredicateValue]) -> Bool {
    withUnsafeBufferPointer { mine in
      other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress && mine.count == $0.count }
    }
  }
}
