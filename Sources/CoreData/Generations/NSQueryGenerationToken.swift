import Foundation

/// Stands for a state of a coordinator's stores, a query generation. Immutable.
///
/// The state exists as long as the token or a context that is pinned to it; an archive does not keep it.
///
/// ```swift
/// try context.setQueryGenerationFrom(.current)
/// let count = try context.count(for: Book.fetchRequest())
/// let books = try context.fetch(Book.fetchRequest())  // as many, whatever others save meanwhile
/// try context.setQueryGenerationFrom(nil)
/// ```
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Unchecked: immutable; the generation is Sendable and the superclass has no state.

  /// Nil: whatever is current when it is asked for.
  let generation: StoreGeneration?

  private static let _current = NSQueryGenerationToken(nil)

  init(_ generation: StoreGeneration?) {
    self.generation = generation
    super.init()
  }

  /// Stands for the latest state at the time when a context is pinned to it.
  open class var current: NSQueryGenerationToken { _current }

  /// A token that was archived in this process; nil when its state is not kept any more.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding,
      let name = coder.decodeObject(of: NSString.self, forKey: Self._nameKey) as String?
    else { return nil }
    if name == Self._currentName {
      generation = nil
    } else {
      guard let live = StoreGeneration.named(name) else { return nil }
      generation = live
    }
    super.init()
  }

  private static let _nameKey = "generation"
  private static let _currentName = "current"

  /// Archives the token, for use in this process.
  open func encode(with coder: NSCoder) {
    coder.encode(NSString(string: generation?.name ?? Self._currentName), forKey: Self._nameKey)
  }

  /// Archives of tokens are decoded securely.
  open class var supportsSecureCoding: Bool { true }

  /// The token itself: it never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Tokens are equal when they stand for the same state.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSQueryGenerationToken).map { $0.generation === generation } ?? false
  }

  open override var hash: Int { generation.map { ObjectIdentifier($0).hashValue } ?? 0 }

  open override var description: String {
    "<NSQueryGenerationToken: \(generation?.name ?? Self._currentName)>"
  }
}
