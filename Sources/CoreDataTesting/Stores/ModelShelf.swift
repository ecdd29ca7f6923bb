import CoreData
import Foundation

/// The models that tests have loaded from bundles.
///
/// One instance serves all tests of a process: with two, a class belongs to two entities, and `Book.entity()` finds
/// none.
enum ModelShelf {
  // Unchecked: a loaded model is not changed any more.
  private struct Shelf: @unchecked Sendable {
    var models: [URL: NSManagedObjectModel] = [:]
  }

  private static let _shelf = Guarded(Shelf())

  /// The model with a name.
  ///
  /// - Throws: `TestStoreError` if the bundle does not have it, or it cannot be read.
  static func model(named name: String, in bundle: Bundle) throws -> NSManagedObjectModel {
    for form in ["momd", "mom", "xcdatamodeld", "xcdatamodel"] {
      guard let url = bundle.url(forResource: name, withExtension: form) else { continue }
      return try model(at: url)
    }
    throw TestStoreError(
      "There is no model '\(name)' in \(bundle.bundlePath). If it is a resource of the test's target or of the program's, "
        + "pass that target's bundle: .module.")
  }

  static func model(at url: URL) throws -> NSManagedObjectModel {
    try _shelf.withLock { shelf in
      if let model = shelf.models[url] { return model }
      guard let model = NSManagedObjectModel(contentsOf: url) else {
        throw TestStoreError("The model at \(url.path) cannot be read.")
      }
      shelf.models[url] = model
      return model
    }
  }
}
