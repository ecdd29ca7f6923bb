import CoreData

/// Decodes the empty value of a Codable type: numbers are 0, texts and collections empty, optionals nil,
/// enumerations a case of theirs. For a required attribute of which the store has no value that can be read.
struct EmptyDecoder: Decoder {
  /// A type that contains itself would be decoded for ever.
  private static let _deepest = 64

  fileprivate let depth: Int
  /// The case of the enumeration with payloads that is decoded.
  fileprivate var caseName: String?
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// Returns the empty value of a type; nil if the type accepts none.
  static func decode(_ type: any Decodable.Type) -> Any? {
    do {
      return try _value(type, depth: 0)
    } catch {
      return nil
    }
  }

  fileprivate static func _value<Value: Decodable>(_ type: Value.Type, depth: Int) throws -> Value {
    if let empty = EmptyValue.made(type) { return empty }
    if let first = EnumerationLayout<Value>.first { return first }
    guard depth < _deepest else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: [], debugDescription: "\(type) contains itself."))
    }
    for known in TypeReflection.cases(of: type) ?? [] {
      do {
        return try type.init(from: EmptyDecoder(depth: depth + 1, caseName: known.name))
      } catch {
        continue
      }
    }
    return try type.init(from: EmptyDecoder(depth: depth + 1))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(_EmptyKeyed<Key>(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { _EmptyUnkeyed(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { _EmptySingle(decoder: self) }
}

private struct _EmptyKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: EmptyDecoder
  let codingPath: [any CodingKey] = []

  var allKeys: [Key] { decoder.caseName.flatMap { Key(stringValue: $0) }.map { [$0] } ?? [] }
  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? { nil }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try EmptyDecoder._value(type, depth: decoder.depth)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> { EmptyDecoder(depth: decoder.depth).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { decoder.unkeyedContainer() }
  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

private struct _EmptyUnkeyed: UnkeyedDecodingContainer {
  let decoder: EmptyDecoder
  let codingPath: [any CodingKey] = []
  let count: Int? = 0
  let isAtEnd = true
  private(set) var currentIndex = 0

  init(decoder: EmptyDecoder) { self.decoder = decoder }

  mutating func decodeNil() -> Bool { false }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try EmptyDecoder._value(type, depth: decoder.depth)
  }
  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<
    Nested
  > {
    decoder.container(keyedBy: type)
  }
  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { self }
  mutating func superDecoder() -> any Decoder { decoder }
}

private struct _EmptySingle: SingleValueDecodingContainer {
  let decoder: EmptyDecoder
  let codingPath: [any CodingKey] = []

  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try EmptyDecoder._value(type, depth: decoder.depth)
  }
}
