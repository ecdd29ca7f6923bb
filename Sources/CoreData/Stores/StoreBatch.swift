import CoreDataModelSchema
import CoreDataPredicateLanguage

/// A batch insertion of rows of one entity.
package struct BatchInsertPlan {
  /// What to do with a row that violates a uniqueness constraint with a stored row.
  package enum Collision {
    /// Insert nothing at all.
    case fail
    /// Update the stored row with the values.
    case update
    /// Skip the row.
    case skip
  }

  package let layout: PropertyLayout
  package let collision: Collision
  /// Returns the next row; nil at the end. Called on the thread that executes the plan.
  package let next: () throws -> Row?

  package init(layout: PropertyLayout, collision: Collision, next: @escaping () throws -> Row?) {
    self.layout = layout
    self.collision = collision
    self.next = next
  }
}

/// A batch update of all rows that match a predicate.
package struct BatchUpdatePlan: Sendable {
  package enum Source: Sendable {
    case value(Value)
    /// An expression evaluated on the row.
    case expression(ExpressionTree)
  }

  package struct Assignment: Sendable {
    package let slot: Int
    package let source: Source
  }

  package let rows: FetchPlan
  package let assignments: [Assignment]
}

/// The outcome of a batch.
package struct BatchOutcome: Sendable {
  /// Number of rows inserted, updated or deleted.
  package var count = 0
  /// The keys of these rows, if requested.
  package var keys: [ObjectKey] = []
  /// Number of the transaction in the store's history; nil without a history, or if nothing changed.
  package var transaction: Int64?

  package init(count: Int = 0, keys: [ObjectKey] = [], transaction: Int64? = nil) {
    self.count = count
    self.keys = keys
    self.transaction = transaction
  }
}

/// A row of the batch violates a uniqueness constraint; nothing was written.
package struct BatchConstraintError: Error, Sendable, CustomStringConvertible {
  package let entity: String
  package let constraints: [[String]]
  package let reason: String

  package init(entity: String, constraints: [[String]], reason: String) {
    self.entity = entity
    self.constraints = constraints
    self.reason = reason
  }

  package var description: String {
    let names = constraints.map { $0.joined(separator: ", ") }.joined(separator: "; ")
    return
      "a batch request on '\(entity)' breaks a uniqueness constraint (\(names)), so nothing was changed: \(reason)"
  }
}

/// The batch deletion would nullify a mandatory relationship of objects that remain; nothing was deleted.
package struct BatchInverseError: Error, Sendable, CustomStringConvertible {
  /// Entity of the remaining objects.
  package let entity: String
  /// Their mandatory relationship.
  package let relationship: String
  /// Core Data's name for the kind of relationship, from the deleted object's end: OTO, OTM or MTM.
  package let kind: String

  /// Core Data's wording of the failure.
  package var reason: String {
    "Constraint trigger violation: Batch delete failed due to mandatory \(kind) nullify inverse on "
      + "\(entity)/\(relationship)"
  }

  package var description: String {
    "\(reason). Nothing was deleted: '\(entity).\(relationship)' is mandatory, and objects that stay would lose what it "
      + "holds. Delete those objects as well, use the rule Cascade, or make the relationship optional"
  }
}

/// A store that inserts, updates and deletes many rows without creating objects.
///
/// Each call is one transaction.
package protocol BatchCapable: StoreEngine {
  func insert(_ plan: BatchInsertPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
  func update(_ plan: BatchUpdatePlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
  func delete(_ plan: FetchPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
}
