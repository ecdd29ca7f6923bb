/// A context held without keeping it alive, and without making every retain of it slower, as a weak reference
/// would.
package struct WeakContext: Sendable {
  @Loose private var _context: NSManagedObjectContext?

  /// Refers to a context.
  package init(context: NSManagedObjectContext) { _context = context }

  /// The context, or nil when it is gone.
  package var context: NSManagedObjectContext? { _context }
}
