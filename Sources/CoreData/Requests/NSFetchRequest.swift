import Foundation

public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
}

open class NSFetchRequest<ResultType>: NSObject, NSCopying {
  open var entityName: String?
  open var predicate: NSPredicate?
  open var resultType = NSFetchRequestResultType(rawValue: 0)
  open var fetchLimit = 0
  open var fetchBatchSize = 0
  open var includesSubentities = true
  open var includesPropertyValues = true
  open var includesPendingChanges = true
  open var returnsObjectsAsFaults = true
  open var returnsDistinctResults = false

  public init(entityName: String) { self.entityName = entityName }

  open func copy(with zone: NSZone? = nil) -> Any { self }
}
