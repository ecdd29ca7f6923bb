import CoreDataModelSchema

/// The findings of a check of a model, for a page.
package enum ModelReview {
  /// A part of the model that is wrong or probably wrong.
  package struct Finding: Sendable {
    package let isError: Bool
    package let subject: String
    package let message: String
  }

  /// The findings, errors first.
  package static func findings(_ schema: ModelSchema) -> [Finding] {
    let found = ModelChecker(schema).findings.map {
      Finding(isError: $0.severity == .error, subject: $0.subject.shown, message: $0.message)
    }
    return found.filter(\.isError) + found.filter { !$0.isError }
  }
}
