/// The result of a batched fetch: models, or identities, that are created on access.
///
/// Used where the context is used.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let _count: Int
  private let _element: (Int) -> Element

  init(count: Int, _ element: @escaping (Int) -> Element) {
    _count = count
    _element = element
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of results.
  public var endIndex: Int { _count }

  /// The result at an index.
  public subscript(index: Int) -> Element {
    precondition(index >= 0 && index < _count, "index \(index) is beyond the \(_count) results of the fetch")
    return _element(index)
  }
}
