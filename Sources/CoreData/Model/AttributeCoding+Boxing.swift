import CoreDataModelSchema
import Foundation

extension AttributeCoding {
  /// Returns the value of `value(forKey:)`: an NSNumber for numbers and booleans, an NSDecimalNumber for
  /// decimals, otherwise the Swift type; for a transformable attribute the object.
  ///
  /// - Throws: An error of the transformer or the archive of a transformable attribute.
  func object(from value: Value) throws -> Any? {
    switch value {
    case .null: return nil
    case .string(let text):
      // A URI with invalid text can only come from a file; return the text.
      if form == .uri { return URL(string: text) ?? text as Any }
      return text
    case .int(let number):
      return form == .boolean ? SharedNumbers.boolean(number != 0) : SharedNumbers.number(number)
    case .double(let number):
      switch form {
      case .date: return Date(timeIntervalSinceReferenceDate: number)
      case .float: return NSNumber(value: Float(number))
      default: return NSNumber(value: number)
      }
    case .data(let data): return data
    case .uuid(let uuid): return uuid
    case .decimal(let box): return NSDecimalNumber(decimal: box.decimal)
    case .transformable(let box): return try object(from: box)
    case .composite(let box):
      var dictionary: [String: Any] = [:]
      for (element, value) in zip(elements, box.values) {
        if let object = try element.object(from: value) { dictionary[element.name] = object }
      }
      return dictionary
    case .pending(let id): return id
    case .reference, .toMany: return nil
    }
  }

  /// Returns the object of a transformable attribute, decoded if necessary.
  func object(from box: TransformableBox) throws -> Any? {
    if let object = box.object { return object }
    guard let data = box.data else { return nil }
    return try TransformableCoding.object(from: data, transformer: transformerName, attribute: self)
  }

  /// Returns the stored data of a transformable attribute, encoded if necessary.
  func data(from box: TransformableBox) throws -> Data? {
    if let data = box.data { return data }
    guard let object = box.object else { return nil }
    return try TransformableCoding.data(from: object, transformer: transformerName, attribute: self)
  }
}

/// Frequently used NSNumbers; creating one takes longer than looking it up.
private enum SharedNumbers {
  private static let _true = NSNumber(value: true)
  private static let _false = NSNumber(value: false)
  private static let _small: [NSNumber] = (-1...255).map { NSNumber(value: Int64($0)) }

  static func boolean(_ flag: Bool) -> NSNumber { flag ? _true : _false }

  static func number(_ number: Int64) -> NSNumber {
    number >= -1 && number <= 255 ? _small[Int(number) + 1] : NSNumber(value: number)
  }
}

extension SchemaLiteral {
  /// The literal as returned by `NSAttributeDescription.defaultValue`; nil if it does not fit the type.
  func object(for type: AttributeType) -> Any? {
    switch self {
    case .integer(let number): NSNumber(value: number)
    case .double(let number): type.form == .float ? NSNumber(value: Float(number)) : NSNumber(value: number)
    case .decimal(let text): Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
    case .boolean(let flag): NSNumber(value: flag)
    case .string(let text): text
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .uuid(let text): UUID(uuidString: text)
    case .uri(let text): URL(string: text)
    }
  }

  /// Converts a caller's default value to a literal; nil for one that no model file can contain.
  init?(_ object: Any, type: AttributeType) {
    let attribute = AttributeSchema(traits: PropertyTraits(name: "defaultValue"), type: type)
    guard let value = try? AttributeCoding(attribute, entityName: "").value(from: object) else { return nil }
    self.init(value, type)
  }

  /// Converts a caller's value to what a store contains for it: the data of a transformable attribute's object. Nil if
  /// there is nothing like it.
  init?(stored object: Any, _ attribute: AttributeSchema) {
    let coding = AttributeCoding(attribute, entityName: "")
    guard let value = try? coding.value(from: object) else { return nil }
    guard case .transformable(let box) = value else {
      self.init(value, attribute.type)
      return
    }
    guard let data = try? coding.data(from: box) else { return nil }
    self = .data(Array(data))
  }

  private init?(_ value: Value, _ type: AttributeType) {
    switch (value, type.form) {
    case (.int(let number), .boolean): self = .boolean(number != 0)
    case (.int(let number), _): self = .integer(number)
    case (.double(let seconds), .date): self = .date(seconds)
    case (.double(let number), _): self = .double(number)
    case (.string(let text), .uri): self = .uri(text)
    case (.string(let text), _): self = .string(text)
    case (.data(let data), _): self = .data(Array(data))
    case (.uuid(let uuid), _): self = .uuid(uuid.uuidString)
    case (.decimal(let box), _): self = .decimal(box.decimal.description)
    default: return nil
    }
  }
}
