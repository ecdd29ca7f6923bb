/// One difference between two versions of a model, and whether a lightweight migration supports it.
package struct SchemaChange: Sendable, Hashable {
  package enum Verdict: String, Sendable {
    /// The store does not change.
    case free
    /// Inferred, no data is lost.
    case inferred
    /// Inferred; existing data is lost.
    case loses
    /// Inferred; migrating a store fails if it has objects without a value for the attribute.
    case fails
    /// Requires a custom mapping model.
    case blocked
  }

  package let entity: String
  package let property: String?
  package let what: String
  package let verdict: Verdict
  package let why: String

  /// What has changed: `Book`, or `Book.title`.
  package var subject: String { property.map { "\(entity).\($0)" } ?? entity }

  package init(entity: String, property: String?, what: String, verdict: Verdict, why: String) {
    self.entity = entity
    self.property = property
    self.what = what
    self.verdict = verdict
    self.why = why
  }

  /// The same difference between models whose version hashes are equal.
  var asNote: SchemaChange {
    if verdict == .free { return self }
    return SchemaChange(
      entity: entity, property: property, what: what, verdict: .free,
      why: "the version hashes leave it out: stores open without a migration")
  }
}

/// The description of a change, before its subject is known.
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
