/// A problem in a store file.
package struct StoreFinding: Sendable, Hashable {
  package enum Severity: String, Sendable {
    /// Data is lost or wrong, or the next save may fail.
    case error
    /// Works, but is unintended.
    case warning
  }

  /// The kind of problem; one or two words for scripts.
  package enum Kind: String, Sendable, CaseIterable {
    case integrity = "integrity"
    case metadata = "metadata"
    case schema = "schema"
    case entityTable = "entity-table"
    case primaryKeys = "primary-keys"
    case entityNumber = "entity-number"
    case danglingReference = "dangling-reference"
    case wrongDestination = "wrong-destination"
    case oneSidedInverse = "one-sided-inverse"
    case order = "order"
    case constraint = "constraint"
    case missingValue = "missing-value"
    case cellType = "cell-type"
    case externalData = "external-data"
    case history = "history"
  }

  package let kind: Kind
  package let severity: Severity
  package let table: String
  /// Primary keys of rows concerned, the first few.
  package let rows: [Int64]
  /// Number of rows concerned.
  package let count: Int
  /// The problem.
  package let message: String
  /// The remedy.
  package let advice: String
  /// Whether `--repair` repairs it.
  package let isMendable: Bool

  package init(
    _ kind: Kind, _ severity: Severity, table: String, rows: [Int64] = [], count: Int? = nil,
    _ message: String,
    advice: String, isMendable: Bool = false
  ) {
    self.kind = kind
    self.severity = severity
    self.table = table
    self.rows = rows
    self.count = count ?? max(1, rows.count)
    self.message = message
    self.advice = advice
    self.isMendable = isMendable
  }
}
