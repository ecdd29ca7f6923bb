import CoreData
import Foundation

/// Type of stores in a PostgreSQL database.
///
/// Using the constant registers the type with Core Data: Swift modules run no code when loaded, and global
/// constants are initialized on first use. A type given as a string literal is unknown until then.
public let NSPostgreSQLStoreType: String = {
  StoreKinds.register(PostgreSQLStoreKind())
  return PostgreSQLStoreKind.typeName
}()

/// Found by name if a program requests the type before using the constant.
///
/// Not internal: the optimizer removes an internal type that nothing in its module uses.
package enum LinkedKind: LinkedStoreKind {
  package static func register() { _ = NSPostgreSQLStoreType }
}

extension NSPersistentStore.StoreType {
  /// A schema of a PostgreSQL database.
  ///
  /// The store's URL names server, database and schema, in the form that `libpq` takes:
  /// `postgresql://user@host:5432/database?schema=shop&sslmode=verify-full`.
  public static var postgreSQL: NSPersistentStore.StoreType {
    NSPersistentStore.StoreType(rawValue: NSPostgreSQLStoreType)
  }
}

extension NSPersistentStoreDescription {
  /// Creates a description of a store in a PostgreSQL database.
  ///
  /// ```swift
  /// import CoreData
  /// import CoreDataPostgreSQL
  ///
  /// let container = NSPersistentContainer(name: "Shop")
  /// container.persistentStoreDescriptions = [
  ///   NSPersistentStoreDescription(postgreSQL: URL(string: "postgresql://app@db.internal/shop?schema=orders")!)
  /// ]
  /// ```
  ///
  /// - Parameter url: Server, database and schema; see `NSPersistentStore.StoreType.postgreSQL`.
  public convenience init(postgreSQL url: URL) {
    self.init(url: url)
    type = NSPostgreSQLStoreType
  }
}
