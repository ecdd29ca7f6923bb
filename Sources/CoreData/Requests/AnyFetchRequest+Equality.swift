import Foundation

extension AnyFetchRequest {
  /// Whether another request has the same settings. Entities are compared by name, so that a request with an
  /// entity name equals its copies even after a context has resolved the entity.
  final func hasContent(of other: AnyFetchRequest) -> Bool {
    entityName == other.entityName && predicate == other.predicate
      && sortDescriptors == other.sortDescriptors && _hasExtent(of: other) && _hasProperties(of: other)
      && affectedStores?.map(ObjectIdentifier.init) == other.affectedStores?.map(ObjectIdentifier.init)
  }

  private final func _hasExtent(of other: AnyFetchRequest) -> Bool {
    fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
      && fetchBatchSize == other.fetchBatchSize
      && resultType == other.resultType && includesSubentities == other.includesSubentities
      && includesPendingChanges == other.includesPendingChanges
  }

  private final func _hasProperties(of other: AnyFetchRequest) -> Bool {
    includesPropertyValues == other.includesPropertyValues
      && returnsObjectsAsFaults == other.returnsObjectsAsFaults
      && returnsDistinctResults == other.returnsDistinctResults
      && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects
      && relationshipKeyPathsForPrefetching == other.relationshipKeyPathsForPrefetching
      && Content.same(fetched, other.fetched)
      && Content.same(grouped, other.grouped)
      && havingPredicate == other.havingPredicate
  }
}
