import CoreDataModelSchema
import Foundation

/// A validation predicate that expresses one of the model editor's limits.
struct ArchivedLimit {
  private enum Kind {
    case minimum(SchemaLiteral)
    case maximum(SchemaLiteral)
    case pattern(String)
  }

  private let _kind: Kind

  /// Recognizes `SELF >= n`, `SELF <= n`, the same for `length` or `timeIntervalSinceReferenceDate`, and
  /// `SELF MATCHES p`; nil for any other predicate.
  init?(_ predicate: KeyedArchive.Object, archive: KeyedArchive, type: AttributeType) {
    guard predicate.className == "NSComparisonPredicate",
      let op = archive.object(predicate.fields["NSPredicateOperator"]),
      archive.integer(op.fields["NSModifier"]) ?? 0 == 0,
      let right = archive.object(predicate.fields["NSRightExpression"]),
      right.className == "NSConstantValueExpression",
      let left = archive.object(predicate.fields["NSLeftExpression"])
    else { return nil }
    let measured: String?
    switch left.className {
    case "NSSelfExpression": measured = nil
    case "NSKeyPathExpression": measured = try? ArchivedPredicateText(archive, path: "").keyPath(left)
    default: return nil
    }
    let constant = right.fields["NSConstantValue"]
    let bound: SchemaLiteral?
    switch (type.form, measured) {
    case (.string, "length"): bound = ArchivedLiteral(archive).literal(constant, type: .integer64)
    case (.string, nil):
      guard archive.integer(op.fields["NSOperatorType"]) == 6, let pattern = archive.string(constant) else {
        return nil
      }
      _kind = .pattern(pattern)
      return
    case (.date, "timeIntervalSinceReferenceDate"):
      guard case .double(let seconds)? = ArchivedLiteral(archive).literal(constant, type: .double) else {
        return nil
      }
      bound = .date(seconds)
    case (.date, nil), (.integer16, nil), (.integer32, nil), (.integer64, nil), (.decimal, nil),
      (.double, nil),
      (.float, nil):
      bound = ArchivedLiteral(archive).literal(constant, type: type)
    default: return nil
    }
    guard let bound else { return nil }
    switch archive.integer(op.fields["NSOperatorType"]) {
    case 1: _kind = .maximum(bound)
    case 3: _kind = .minimum(bound)
    default: return nil
    }
  }

  func apply(to limits: inout AttributeLimits) {
    switch _kind {
    case .minimum(let bound): limits.minimum = bound
    case .maximum(let bound): limits.maximum = bound
    case .pattern(let pattern): limits.regularExpression = pattern
    }
  }
}
