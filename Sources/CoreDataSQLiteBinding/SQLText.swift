import Synchronization

/// The text of a statement with a unique number, which connections use as the cache key of its prepared
/// statement instead of hashing the text.
///
/// Create one per shape of statement and keep it; two instances with the same text are two statements.
package struct SQLText: Sendable, CustomStringConvertible {
  package let id: Int
  package let text: String

  private static let _next = Atomic<Int>(1)

  package init(_ text: String) {
    id = Self._next.wrappingAdd(1, ordering: .relaxed).oldValue
    self.text = text
  }

  package var description: String { text }
}
