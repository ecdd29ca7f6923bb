import CoreDataModelSchema
import Foundation

/// The Swift types and values of attributes, as SwiftData maps them to the attribute's type.
struct SwiftDataTypes {
  /// Entity names that shadow types of other modules.
  private let _taken: Set<String>
  /// Whether the model is a store's: then SwiftData drew a default UUID, and read the clock for a
  /// default date, when it made the schema.
  private let _isOfStore: Bool

  init(entities: Set<String>, isOfStore: Bool) {
    _taken = entities
    _isOfStore = isOfStore
  }

  private static let _standard: Set<String> = ["Int16", "Int32", "Int", "Double", "Float", "Bool", "String"]

  /// The type's name, qualified with its module if an entity has the same name.
  func qualified(_ type: String) -> String {
    guard _taken.contains(type) else { return type }
    return Self._standard.contains(type) ? "Swift.\(type)" : "Foundation.\(type)"
  }

  /// The type of an attribute's values; nil if Swift has none that SwiftData stores in this form.
  func type(of type: AttributeType) -> String? {
    type.traits.modelType.map(qualified)
  }

  /// A default value as source; nil if there is none, or if it is invalid or too long.
  func value(_ literal: SchemaLiteral?, of type: AttributeType) -> String? {
    switch literal {
    case nil: return nil
    case .integer(let number):
      return type.form == .boolean ? (number == 0 ? "false" : "true") : String(number)
    case .double(let number):
      guard number.isFinite else { return nil }
      return number == number.rounded() && abs(number) < 1e15 && type.form != .decimal
        ? "\(Int64(number))" : "\(number)"
    case .decimal(let text):
      guard let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
      return number == 0 ? "0" : "\(qualified("Decimal"))(string: \(SourceText.literal(text)))!"
    case .boolean(let flag): return flag ? "true" : "false"
    case .string(let string): return SourceText.literal(string)
    case .date(let seconds):
      guard seconds.isFinite else { return nil }
      // A date that a program chooses has no fraction of a second.
      if _isOfStore, seconds != seconds.rounded() { return "\(qualified("Date"))()" }
      return "\(qualified("Date"))(timeIntervalSinceReferenceDate: \(seconds))"
    case .data(let bytes):
      guard bytes.count <= 64 else { return nil }
      return "\(qualified("Data"))([\(bytes.map(String.init).joined(separator: ", "))])"
    case .uuid(let text):
      if _isOfStore { return "\(qualified("UUID"))()" }
      return UUID(uuidString: text).map {
        "\(qualified("UUID"))(uuidString: \(SourceText.literal($0.uuidString)))!"
      }
    case .uri(let text):
      return URL(string: text) == nil ? nil : "\(qualified("URL"))(string: \(SourceText.literal(text)))!"
    }
  }
}
