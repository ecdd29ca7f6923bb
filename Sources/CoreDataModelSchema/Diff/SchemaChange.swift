/// One difference between two versions of a model, and whether a lightweight migration carries it.
package struct SchemaChange: Sendable, Hashable {
  package enum Verdict: String, Sendable {
    /// Nothing in the store changes.
    case free
    /// Inferred, no data is lost.
    case inferred
    /// Inferred, and what was there goes.
    case loses
    /// Inferred; migrating a store fails if it has objects without a value for the attribute.
    case fails
    /// Needs a custom mapping model.
    case blocked
  }

  package let entity: String
  package let property: String?
  package let what: String
  package let verdict: Verdict
  package let why: String

  package init(entity: String, property: String?, what: String, verdict: Verdict, why: String) {
    self.entity = entity
    self.property = property
    self.what = what
    self.verdict = verdict
    self.why = why
  }
}

/// What is to be said of one change, before it is known of what.
struct SchemaFinding {
  let what: String
  let verdict: SchemaChange.Verdict
  let why: String

  init(_ what: String, _ verdict: SchemaChange.Verdict, _ why: String) {
    self.what = what
    self.verdict = verdict
    self.why = why
  }
}
