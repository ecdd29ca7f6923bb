import CoreDataModelSchema
import Foundation

extension Value {
  /// Returns the value as an object's description shows it, without decoding, and with large values
  /// abbreviated.
  ///
  /// - Parameter type: Type of the attribute; nil for a relationship.
  func text(as type: SchemaAttributeType?) -> String {
    switch self {
    case .null: "nil"
    case .int(let number): type?.form == .boolean ? (number == 0 ? "false" : "true") : "\(number)"
    case .double(let number):
      type?.form == .date ? Date(timeIntervalSinceReferenceDate: number).description : "\(number)"
    case .string(let text): "\"\(text)\""
    case .data(let data): "\(data.count) bytes"
    case .uuid(let uuid): uuid.uuidString
    case .decimal(let box): "\(box.decimal)"
    case .transformable(let box):
      box.object.map { "\(Swift.type(of: $0))" } ?? "\(box.data?.count ?? 0) bytes"
    case .reference(let key): NSManagedObjectID(key).uriRepresentation().absoluteString
    case .pending(let id): id.canonical.uriRepresentation().absoluteString
    case .toMany: "<relationship>"
    case .composite(let box): "(" + box.values.map { $0.text(as: nil) }.joined(separator: ", ") + ")"
    }
  }
}
