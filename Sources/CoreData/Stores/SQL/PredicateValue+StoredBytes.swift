import CoreDataPredicateLanguage
import Foundation

extension PredicateValue {
  /// Returns the bytes that a transformable attribute stores for the value; nil, which equals no row, if it
  /// cannot be encoded.
  ///
  /// - Parameters:
  ///   - entity: Number of the attribute's entity.
  ///   - spaces: The store's ID spaces, by entity number - 1.
  package func storedBytes(entity: Int, slot: Int, _ spaces: [ObjectIDSpace]) -> Data? {
    guard let object = any, entity <= spaces.count, let coding = spaces[entity - 1].entity.shape.codings[slot]
    else { return nil }
    do {
      return try coding.data(from: TransformableBox(object: object, data: nil))
    } catch {
      Console.warn("a predicate's value has no stored form to compare with: \(error)")
      return nil
    }
  }
}
