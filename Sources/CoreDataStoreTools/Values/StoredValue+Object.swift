import CoreData
import CoreDataModelSchema
import Foundation

extension StoredValue {
  /// The value as `setValue(_:forKey:)` takes it for an attribute; nil for null. The data of a transformable attribute stay
  /// data.
  package func object(of attribute: AttributeSchema) -> Any? {
    switch self {
    case .null, .reference: nil
    case .integer(let number): NSNumber(value: number)
    case .boolean(let flag): NSNumber(value: flag)
    case .double(let number): NSNumber(value: number)
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .decimal(let decimal): NSDecimalNumber(decimal: decimal)
    case .string(let text): text
    case .uri(let text): URL(string: text)
    case .uuid(let uuid): uuid
    case .data(let data), .transformable(let data): data
    case .composite(let values):
      Dictionary(
        zip(attribute.elements, values).compactMap { element, value in
          value.object(of: element).map { (element.name, $0) }
        }, uniquingKeysWith: { first, _ in first }) as [String: Any]
    }
  }
}
