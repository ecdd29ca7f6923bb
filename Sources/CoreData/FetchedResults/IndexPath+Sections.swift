import Foundation

// UIKit and AppKit add these on Apple's platforms; code for fetched results controllers needs them.

extension IndexPath {
  /// Creates the index path of an item in a section.
  ///
  /// ```swift
  /// let book = controller.object(at: IndexPath(item: 0, section: 0))
  /// ```
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// Creates the index path of a row in a section.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// Index of the section. Traps for an empty path.
  public var section: Int {
    get { self[0] }
    set { self[0] = newValue }
  }

  /// Index of the item in its section. Traps for a path without one.
  public var item: Int {
    get { self[1] }
    set { self[1] = newValue }
  }

  /// Index of the row in its section: an alias of `item`.
  public var row: Int {
    get { self[1] }
    set { self[1] = newValue }
  }
}
