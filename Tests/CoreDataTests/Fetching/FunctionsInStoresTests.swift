import CoreData
import CoreDataPredicateLanguage
import Testing

/// Every predefined function means the same in a store and in memory, or the store refuses it.
struct FunctionsInStoresTests {
  /// Returns a comparison with a function's value, and its entity; nil for a function that cannot be part of
  /// a condition.
  static func condition(on function: PredicateFunction) -> (entity: String, format: String)? {
    let name = function.rawValue
    switch function {
    case .count: return ("Author", "count:(books) > 2")
    case .sum, .min, .max, .average, .median, .mode, .standardDeviation:
      return ("Author", "\(name)(books.pages) > 20")
    case .add, .subtract, .multiply, .divide, .modulus, .raise: return ("Book", "\(name)(pages, 3) > 0")
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
      return ("Book", "\(name)(pages, 2) > 1")
    case .absolute, .squareRoot, .exponential, .naturalLogarithm, .decimalLogarithm, .floor, .ceiling,
      .truncate:
      return ("Book", "\(name)(price) > 1")
    case .onesComplement: return ("Book", "\(name)(pages) < -4")
    case .random: return ("Book", "random() >= 0")
    case .randomBelow: return ("Book", "\(name)(9) < 9")
    case .uppercase, .lowercase, .canonical: return ("Book", "\(name)(title) > 'm'")
    case .length: return ("Book", "length:(title) > 3")
    case .now: return ("Book", "published < now()")
    case .unindexed: return ("Book", "noindex:(pages) > 4")
    case .cast: return ("Book", "CAST(pages, 'NSString') == '3'")
    case .element: return ("Author", "books[SIZE] > 2")
    case .distance, .fetch, .first, .last, .size: return nil
    }
  }

  /// Functions that the database cannot use in conditions.
  static let refused: Set<PredicateFunction> = TestDatabase.server == nil ? [.mode] : [.mode, .canonical]

  private static let _population = Result { try Population(.sqlite) }

  @Test(arguments: PredicateFunction.allCases)
  func `a function means the same in a store`(function: PredicateFunction) throws {
    guard let (entity, format) = Self.condition(on: function) else { return }
    let population = try Self._population.get()
    try population.stack.context.performAndWait {
      let predicate = NSPredicate(format: format)
      if Self.refused.contains(function) {
        #expect(throws: CocoaError.self) { try population.fetched(entity, predicate, subentities: true) }
        return
      }
      let found = try population.fetched(entity, predicate, subentities: true)
      #expect(try found == population.evaluated(entity, predicate, subentities: true))
      #expect(!found.isEmpty, "the condition distinguishes nothing")
    }
  }
}
