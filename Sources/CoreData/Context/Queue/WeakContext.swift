/// A reference to a context that does not retain it, and unlike a `weak` reference does not slow down every
/// retain of it.
package struct WeakContext: Sendable {
  @Loose private var _context: NSManagedObjectContext?

  /// Creates a reference to a context.
  package init(context: NSManagedObjectContext) { _context = context }

  /// The context, or nil after its deallocation.
  package var context: NSManagedObjectContext? { _context }
}
