import CoreDataModelSchema
import Foundation

extension AttributeType {
  /// Whether a model file can contain a literal of this type, other than a date, which it stores as an
  /// interval.
  var hasLiterals: Bool {
    switch form {
    case .undefined, .binaryData, .transformable, .objectID, .composite, .date: false
    default: true
    }
  }
}

extension SchemaLiteral {
  /// Parses `text` for an attribute of this type; nil if it is invalid.
  init?(fileText text: String, type: AttributeType) {
    switch type.form {
    case .string: self = .string(text)
    case .integer16, .integer32, .integer64:
      guard let number = Self._integer(text) else { return nil }
      self = .integer(number)
    case .double, .float:
      guard let number = Double(text) else { return nil }
      self = .double(number)
    case .decimal:
      guard Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) != nil, Double(text) != nil
      else {
        return nil
      }
      self = .decimal(text)
    case .boolean:
      switch text {
      case "YES", "1", "true": self = .boolean(true)
      case "NO", "0", "false": self = .boolean(false)
      default: return nil
      }
    case .uuid:
      guard UUID(uuidString: text) != nil else { return nil }
      self = .uuid(text)
    case .uri: self = .uri(text)
    case .date, .undefined, .binaryData, .transformable, .objectID, .composite: return nil
    }
  }

  /// Besides integers, accepts "0.0" and "NO", which remain when an attribute's type is changed in the
  /// editor.
  private static func _integer(_ text: String) -> Int64? {
    switch text {
    case "YES": 1
    case "NO": 0
    default: Int64(text) ?? Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    }
  }

  /// The literal in the syntax of model files.
  var fileText: String {
    switch self {
    case .integer(let number): "\(number)"
    case .double(let number), .date(let number):
      number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    case .decimal(let text), .string(let text), .uuid(let text), .uri(let text): text
    case .boolean(let flag): flag ? "YES" : "NO"
    case .data(let bytes): Data(bytes).base64EncodedString()
    }
  }
}
