extension Sequence {
  /// Returns the elements in order; equal elements keep theirs. For short sequences off the hot paths.
  ///
  /// The compiler specializes `sorted(by:)` for each type of elements and each closure, which takes four
  /// kilobytes and a tenth of a second each time. This method sorts indices instead, with one specialization
  /// for all callers.
  func ordered(by precedes: (Element, Element) -> Bool) -> [Element] {
    let all = Array(self)
    if all.count < 2 { return all }
    return withoutActuallyEscaping(precedes) { precedes in
      IndexOrder { precedes(all[$0], all[$1]) }.indices(all.count).map { all[$0] }
    }
  }
}

/// An order of indices. A class, so that the compiler does not see which closure it contains.
private final class IndexOrder {
  private let _precedes: (Int, Int) -> Bool

  init(_ precedes: @escaping (Int, Int) -> Bool) { _precedes = precedes }

  @inline(never)
  func indices(_ count: Int) -> [Int] { (0..<count).sorted(by: _precedes) }
}
