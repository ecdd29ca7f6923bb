// Declarations for the examples of CoreDataPostgreSQL: the parameters of the function that each example is wrapped in. See
// Scripts/check doc-examples.

import CoreData
import CoreDataPostgreSQL
import Foundation

enum Examples {
  /// The values that an example may use without declaring them.
  @MainActor static func given(
    description: NSPersistentStoreDescription,
    context: NSManagedObjectContext
  ) {}
}
