import CoreDataPredicateLanguage
import Foundation

/// What the key paths and values of another model of objects mean to a store: how a module above this one has its
/// own classes translated.
package protocol PredicateVocabulary {
  /// The names of properties that a key path from `root` leads through; empty where it leads to the same value.
  /// Nil for a root that is none of the vocabulary's.
  ///
  /// - Throws: Why the key path has no names.
  func path(of keyPath: AnyKeyPath, from root: Any.Type) throws -> [String]?

  /// What stands for a captured value, in types that the engine knows; nil for a value that stands for itself.
  ///
  /// - Throws: Why no store can be asked with the value.
  func constant(for value: Any) throws -> PredicateConstant?

  /// Names of the entities whose objects are of a type; nil for a type that stands for no entity.
  func entityNames(of type: Any.Type) -> [String]?
}

/// What stands for a captured value in a translated predicate.
package enum PredicateConstant {
  /// A value of a type that the engine knows; nil for null.
  case value(Any?)
}

extension PredicateTranslator {
  /// The tree of a predicate about objects that a vocabulary knows.
  static func tree<Object>(
    of predicate: Predicate<Object>, in vocabulary: any PredicateVocabulary
  ) throws -> PredicateTree {
    var translator = PredicateTranslator()
    translator.vocabulary = vocabulary
    translator.variables[predicate.variable.key] = .evaluatedObject
    return try translator.part(predicate.expression).predicate
  }

  /// The value at the end of a key path, as the vocabulary knows it; nil if it does not know the root.
  func known(_ keyPath: AnyKeyPath, from root: Any.Type, at base: ExpressionTree) throws -> ExpressionTree? {
    guard let vocabulary else { return nil }
    do {
      guard let path = try vocabulary.path(of: keyPath, from: root) else { return nil }
      return path.isEmpty ? base : base.followed(by: path)
    } catch {
      throw PredicateTranslationError("\(keyPath)", "\(error)")
    }
  }

  /// What stands for a captured value.
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

  /// Whether an object is of a type.
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
  /// Makes a predicate of a typed one about objects that a vocabulary knows.
  ///
  /// - Throws: ``PredicateTranslationError``: which part has no translation, and why.
  package static func translating<Object>(
    _ predicate: Predicate<Object>, in vocabulary: any PredicateVocabulary
  ) throws -> NSPredicate {
    try PredicateTranslator.tree(of: predicate, in: vocabulary).predicate
  }
}

// MARK: Types

/// A part that looks at an object as one of a subclass.
protocol CastPart {
  /// The object, and the test that tells whether it is of the class.
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
