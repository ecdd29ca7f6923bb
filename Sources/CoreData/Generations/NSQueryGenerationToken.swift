import Foundation

/// Identifies a state of a coordinator's stores, a query generation. Immutable.
///
/// The state exists as long as the token, or a context that is pinned to it; an archived token does not keep
/// it.
///
/// ```swift
/// try context.setQueryGenerationFrom(.current)
/// let count = try context.count(for: Book.fetchRequest())
/// let books = try context.fetch(Book.fetchRequest())  // as many, whatever others save meanwhile
/// try context.setQueryGenerationFrom(nil)
/// ```
open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Unchecked: immutable; the generation is Sendable and the superclass has no state.

  /// Nil: the current state at the time of pinning.
  let generation: StoreGeneration?

  private static let _current = NSQueryGenerationToken(nil)

  init(_ generation: StoreGeneration?) {
    self.generation = generation
    super.init()
  }

  /// The latest state at the time when a context is pinned to it.
  open class var current: NSQueryGenerationToken { _current }

  /// Decodes a token archived in this process; nil if its state no longer exists.
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

  /// Tokens support secure coding.
  open class var supportsSecureCoding: Bool { true }

  /// Returns this token, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Tokens are equal if they identify the same state.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSQueryGenerationToken).map { $0.generation === generation } ?? false
  }

  open override var hash: Int { generation.map { ObjectIdentifier($0).hashValue } ?? 0 }

  open override var description: String {
    "<NSQueryGenerationToken: \(generation?.name ?? Self._currentName)>"
  }
}
