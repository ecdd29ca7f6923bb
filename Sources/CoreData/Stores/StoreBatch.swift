import CoreDataModelSchema
import CoreDataPredicateLanguage

/// Rows of one entity to be inserted at once.
package struct BatchInsertPlan {
  /// What happens to a row that a stored one is in the way of, by a uniqueness constraint.
  package enum Collision {
    /// Nothing is inserted at all.
    case fail
    /// The stored row takes the values.
    case update
    /// The row is left out.
    case skip
  }

  package let layout: PropertyLayout
  package let collision: Collision
  /// The next row, until there is none. Called on the thread that executes the plan.
  package let next: () throws -> Row?

  package init(layout: PropertyLayout, collision: Collision, next: @escaping () throws -> Row?) {
    self.layout = layout
    self.collision = collision
    self.next = next
  }
}

/// Values to be set in all rows that meet a condition.
package struct BatchUpdatePlan: Sendable {
  package enum Source: Sendable {
    case value(Value)
    /// Computed from the row.
    case expression(ExpressionTree)
  }

  package struct Assignment: Sendable {
    package let slot: Int
    package let source: Source
  }

  package let rows: FetchPlan
  package let assignments: [Assignment]
}

/// What a batch has done.
package struct BatchOutcome: Sendable {
  /// Number of rows inserted, updated or deleted.
  package var count = 0
  /// Which ones, if that was asked for.
  package var keys: [ObjectKey] = []
  /// Number of the transaction in the store's history; nil when it keeps none, or nothing was changed.
  package var transaction: Int64?

  package init(count: Int = 0, keys: [ObjectKey] = [], transaction: Int64? = nil) {
    self.count = count
    self.keys = keys
    self.transaction = transaction
  }
}

/// A row that the batch would write is at odds with a uniqueness constraint; nothing was written.
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

/// The batch would take from objects that stay what a mandatory relationship of theirs points at; nothing was
/// deleted.
package struct BatchInverseError: Error, Sendable, CustomStringConvertible {
  /// Entity of the objects that stay.
  package let entity: String
  /// Their mandatory relationship.
  package let relationship: String
  /// Core Data's name for the kind of relationship, from the deleted object's end: OTO, OTM or MTM.
  package let kind: String

  /// What Core Data says of it.
  package var reason: String {
    "Constraint trigger violation: Batch delete failed due to mandatory \(kind) nullify inverse on "
      + "\(entity)/\(relationship)"
  }

  package var description: String {
    "\(reason). Nothing was deleted: '\(entity).\(relationship)' is mandatory, and objects that stay would lose what it "
      + "holds. Delete those objects as well, use the rule Cascade, or make the relationship optional"
  }
}

/// A store that inserts, updates and deletes many rows without objects being made.
///
/// Each call is one transaction.
package protocol BatchCapable: StoreEngine {
  func insert(_ plan: BatchInsertPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
  func update(_ plan: BatchUpdatePlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
  func delete(_ plan: FetchPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome
}
