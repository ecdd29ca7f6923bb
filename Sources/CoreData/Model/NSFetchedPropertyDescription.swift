import CoreDataModelSchema
import Foundation

/// Describes a property whose value is the result of a fetch, executed on first access.
///
/// The request's predicate may refer to the object as `$FETCH_SOURCE` and to this description as
/// `$FETCHED_PROPERTY`.
///
/// ```swift
/// let sameAuthor = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
/// sameAuthor.predicate = NSPredicate(format: "author == $FETCH_SOURCE.author AND SELF != $FETCH_SOURCE")
/// let property = NSFetchedPropertyDescription()
/// property.name = "otherBooks"
/// property.fetchRequest = sameAuthor
/// ```
open class NSFetchedPropertyDescription: NSPropertyDescription {
  private var _fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  /// The request in the model file, until it is first read as an object.
  private var _requestSchema: FetchRequestSchema?

  /// The request that fetches the property's objects.
  ///
  /// Nil if its predicate in the model file cannot be parsed.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get {
      if let _fetchRequest { return _fetchRequest }
      guard let _requestSchema else { return nil }
      let made = try? NSFetchRequest<any NSFetchRequestResult>.make(_requestSchema)
      if !isFrozen { _fetchRequest = made }
      return made
    }
    set {
      willMutate("fetchRequest")
      _fetchRequest = newValue
      _requestSchema = nil
    }
  }

  /// The request as plain values.
  final var requestSchema: FetchRequestSchema? {
    get {
      _requestSchema ?? _fetchRequest.map { FetchRequestSchema($0, name: "fetchedPropertyFetchRequest") }
    }
    set {
      _requestSchema = newValue
      _fetchRequest = nil
    }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchedPropertyDescription()
    copyState(to: copy)
    copy._fetchRequest = _fetchRequest
    copy._requestSchema = _requestSchema
    return copy
  }
}
