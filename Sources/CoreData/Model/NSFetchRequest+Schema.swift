import CoreDataModelSchema
import Foundation

extension NSFetchRequest where ResultType == any NSFetchRequestResult {
  /// Creates a request from its form in a model file.
  ///
  /// - Throws: An error for an invalid predicate.
  static func make(_ schema: FetchRequestSchema) throws -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: schema.entity)
    if let text = schema.predicate, !text.isEmpty { request.predicate = try ModelText.predicate(text) }
    request.resultType = NSFetchRequestResultType(rawValue: schema.resultType)
    request.fetchLimit = schema.fetchLimit
    request.fetchBatchSize = schema.fetchBatchSize
    request.includesSubentities = schema.includesSubentities
    request.includesPropertyValues = schema.includesPropertyValues
    request.includesPendingChanges = schema.includesPendingChanges
    request.returnsObjectsAsFaults = schema.returnsObjectsAsFaults
    request.returnsDistinctResults = schema.returnsDistinctResults
    return request
  }
}

extension FetchRequestSchema {
  /// Creates the form of a request that a model file can contain.
  init(_ request: NSFetchRequest<any NSFetchRequestResult>, name: String) {
    self.init(name: name, entity: request.entityName ?? "", predicate: request.predicate?.predicateText)
    resultType = request.resultType.rawValue
    fetchLimit = request.fetchLimit
    fetchBatchSize = request.fetchBatchSize
    includesSubentities = request.includesSubentities
    includesPropertyValues = request.includesPropertyValues
    includesPendingChanges = request.includesPendingChanges
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    returnsDistinctResults = request.returnsDistinctResults
  }
}
