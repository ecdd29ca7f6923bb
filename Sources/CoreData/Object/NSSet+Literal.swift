import Foundation

extension NSSet: ClassCluster {}

extension ClassCluster where Self: NSSet {
  /// Makes a set of the elements of an array literal, as in `book.addToAuthors([author])`.
  public init(arrayLiteral elements: Any...) {
    let set = Self.self is NSMutableSet.Type ? NSMutableSet(array: elements) : NSSet(array: elements)
    self = Self.answer(set, "An array literal")
  }
}

// Foundation has this on Apple's platforms only.
extension NSSet: @retroactive ExpressibleByArrayLiteral {
  public typealias ArrayLiteralElement = Any
}
