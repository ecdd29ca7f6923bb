import Foundation

/// A position in the history of one or several stores.
///
/// Immutable; may be archived with `NSKeyedArchiver` and used by another process on the same stores. Two
/// tokens are equal if they refer to the same transactions of the same stores, even from different
/// coordinators.
///
/// ```swift
/// let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
/// if let token {
///   let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
///   try data.write(to: backupURL)
/// }
/// let kept = try NSKeyedUnarchiver.unarchivedObject(
///   ofClass: NSPersistentHistoryToken.self, from: Data(contentsOf: backupURL))
/// ```
open class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Unchecked: an immutable dictionary of values; the superclass has no state.

  /// Number of the last known transaction by store UUID; 0 before the first.
  let transactions: [String: Int64]

  init(_ transactions: [String: Int64]) {
    self.transactions = transactions
    super.init()
  }

  /// Creates a token that precedes every transaction, for test doubles.
  public override init() {
    transactions = [:]
    super.init()
  }

  /// Decodes an archived token; nil for an archive of anything else.
  public required init?(coder: NSCoder) {
    guard coder.allowsKeyedCoding,
      let stores = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: Self._storesKey)
        as? [String],
      let numbers = coder.decodeObject(of: [NSArray.self, NSNumber.self], forKey: Self._numbersKey)
        as? [NSNumber],
      stores.count == numbers.count
    else { return nil }
    transactions = Dictionary(zip(stores, numbers.map(\.int64Value)), uniquingKeysWith: { max($0, $1) })
    super.init()
  }

  private static let _storesKey = "stores"
  private static let _numbersKey = "transactions"

  /// Archives the token.
  open func encode(with coder: NSCoder) {
    let entries = transactions.ordered { $0.key < $1.key }
    coder.encode(NSArray(array: entries.map { NSString(string: $0.key) }), forKey: Self._storesKey)
    coder.encode(NSArray(array: entries.map { NSNumber(value: $0.value) }), forKey: Self._numbersKey)
  }

  /// Tokens support secure coding.
  open class var supportsSecureCoding: Bool { true }

  /// Returns this token, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.transactions == transactions
  }

  open override var hash: Int { transactions.hashValue }

  /// The stores with their transactions.
  open override var description: String {
    let entries = transactions.ordered { $0.key < $1.key }.map { "\"\($0.key)\" = \($0.value);" }
    return "<NSPersistentHistoryToken - {\(entries.joined(separator: " "))}>"
  }
}
