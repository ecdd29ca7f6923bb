import CoreDataPredicateLanguage
import Foundation

/// Translates key paths and values of another object model for stores, on behalf of a module with model
/// classes of its own.
package protocol PredicateVocabulary {
  /// Returns the property names along a key path from `root`; empty if it leads to the same value. Nil for a
  /// root that the vocabulary does not know.
  ///
  /// - Throws: The reason why the key path has no names.
  func path(of keyPath: AnyKeyPath, from root: Any.Type) throws -> [String]?

  /// Returns the replacement of a captured value, in types that the engine supports; nil for a value that
  /// needs none.
  ///
  /// - Throws: The reason why no store supports the value.
  func constant(for value: Any) throws -> PredicateConstant?

  /// Returns the names of the entities whose objects are of a type; nil for any other type.
  func entityNames(of type: Any.Type) -> [String]?
}

/// An expression of another module that stands for one which Foundation's types don't take.
package protocol WrappingPart {
  var wrapped: any PredicateExpression { get }
}

/// The replacement of a captured value in a translated predicate.
package enum PredicateConstant {
  /// A value of a type that the engine supports; nil for null.
  case value(Any?)
}

extension PredicateTranslator {
  /// Creates the tree of a predicate on objects that a vocabulary knows.
  static func tree<Object>(
    of predicate: Predicate<Object>, in vocabulary: any PredicateVocabulary
  ) throws -> PredicateTree {
    var translator = PredicateTranslator()
    translator.vocabulary = vocabulary
    translator.variables[predicate.variable.key] = .evaluatedObject
    return try translator.part(predicate.expression).predicate
  }

  /// Returns the value at the end of a key path according to the vocabulary; nil for an unknown root.
  func known(_ keyPath: AnyKeyPath, from root: Any.Type, at base: ExpressionTree) throws -> ExpressionTree? {
    guard let vocabulary else { return nil }
    do {
      guard let path = try vocabulary.path(of: keyPath, from: root) else { return nil }
      return path.isEmpty ? base : base.followed(by: path)
    } catch {
      throw PredicateTranslationError("\(keyPath)", "\(error)")
    }
  }

  /// Translates a captured value.
  func constant(_ value: Any) throws -> ExpressionTree {
    do {
      if let vocabulary, case .value(let found)? = try vocabulary.constant(for: value) {
        return .constant(PredicateValue(any: found))
      }
    } catch {
      throw PredicateTranslationError("a captured \(type(of: value))", "\(error)")
    }
    return .constant(PredicateValue(any: value))
  }

  /// Tests whether an object is of a type.
  func typeTest(_ object: ExpressionTree, _ type: Any.Type) throws -> PredicateTree {
    guard let names = vocabulary?.entityNames(of: type) else {
      throw PredicateTranslationError("a test for the type \(type)", "it stands for no entity")
    }
    return .comparison(
      .init(
        object.followed(by: ["entity", "name"]), .in,
        .constant(.collection(names.map { PredicateValue.string($0) }))))
  }
}

extension NSPredicate {
  /// Creates a predicate from a typed one on objects that a vocabulary knows.
  ///
  /// - Throws: ``PredicateTranslationError`` with the untranslatable part and the reason.
  package static func translating<Object>(
    _ predicate: Predicate<Object>, in vocabulary: any PredicateVocabulary
  ) throws -> NSPredicate {
    try PredicateTranslator.tree(of: predicate, in: vocabulary).predicate
  }
}

// MARK: Types

/// An expression that casts an object to a subclass.
protocol CastPart {
  /// Returns the object, and a test of its class.
  func cast(_ translator: inout PredicateTranslator) throws -> (object: ExpressionTree, test: PredicateTree)
}

extension PredicateExpressions.ConditionalCast: CastPart, TranslatablePart {
  func cast(_ translator: inout PredicateTranslator) throws -> (object: ExpressionTree, test: PredicateTree) {
    let object = try translator.expression(input)
    return (object, try translator.typeTest(object, Desired.self))
  }

  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let (object, test) = try cast(&translator)
    return .expression(.conditional(test, object, .constant(.null)))
  }
}

extension PredicateExpressions.ForceCast: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.part(input)
  }
}

extension PredicateExpressions.TypeCheck: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .predicate(try translator.typeTest(try translator.expression(input), Desired.self))
  }
}
