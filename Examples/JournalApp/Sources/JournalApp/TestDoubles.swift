import CoreData
import Foundation

/// A context that fails to save, and counts fetches.
final class FailingContext: NSManagedObjectContext, @unchecked Sendable {
  struct Failure: Error {}
  private(set) var fetchCount = 0

  override var hasChanges: Bool { true }
  override func save() throws { throw Failure() }
  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    fetchCount += 1
    return try super.fetch(request)
  }
}

/// A context that runs its blocks immediately on the calling thread.
final class ImmediateContext: NSManagedObjectContext, @unchecked Sendable {
  override func perform(_ block: @escaping () -> Void) { performAndWait(block) }
}

extension NSAttributeType {
  /// The type's name, as shown on the settings screen.
  var label: String {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "integer"
    case .decimalAttributeType, .doubleAttributeType, .floatAttributeType: "number"
    case .stringAttributeType: "text"
    case .booleanAttributeType: "truth"
    case .dateAttributeType: "date"
    case .binaryDataAttributeType: "data"
    case .UUIDAttributeType, .URIAttributeType, .objectIDAttributeType: "reference"
    case .undefinedAttributeType, .transformableAttributeType, .compositeAttributeType: "other"
    @unknown default: "unknown"
    }
  }
}
