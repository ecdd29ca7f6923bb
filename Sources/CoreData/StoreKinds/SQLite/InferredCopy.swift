import CoreDataModelSchema
import Foundation

/// Migrates with SQLite's means: copies the file and rewrites the copy's tables in SQL.
struct InferredCopy {
  private let _job: MigrationJob
  private let _source: NSManagedObjectModel
  private let _destination: NSManagedObjectModel

  init(_ job: MigrationJob, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    _job = job
    _source = source
    _destination = destination
  }

  func run() throws {
    let (from, to) = (_job.source.url, _job.destination.url)
    let metadata: [String: Any]
    do {
      metadata = try SQLiteStoreKind().metadata(at: from, options: _job.source.options)
      guard _source.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
        throw CocoaError.coreData(
          NSPersistentStoreIncompatibleVersionHashError,
          "The store at \(from.path) was written with another version of the model than the source model ("
            + StoreVersioning.differences(_source, metadata) + ").", ["metadata": metadata])
      }
    } catch {
      throw CocoaError.coreData(
        NSMigrationManagerSourceStoreError,
        "The source store of the migration cannot be opened: \(error.debugText)",
        [NSUnderlyingErrorKey: error, NSURLErrorKey: from])
    }
    let files = StoreFiles(url: to)
    do {
      try StoreErrors.translating(url: to) { try StoreFiles(url: from).copy(to: files) }
      let model = _destination.copy() as! NSManagedObjectModel
      try SQLiteMigratingStore.rewriteCopy(
        at: to, metadata: metadata, options: _job.destination.options, from: ModelSchema(_source), to: model)
    } catch {
      files.remove()
      throw error
    }
  }
}
