import CoreData

/// The values of a snapshot, extracted from its coded form without serializing them.
struct SnapshotValues {
  let identifier: PersistentIdentifier
  /// By the properties' names; nil for null.
  let values: [String: Any?]

  /// - Throws: Errors of encoding the snapshot.
  init(_ snapshot: some DataStoreSnapshot) throws {
    identifier = snapshot.persistentIdentifier
    let encoder = SnapshotEncoder()
    try snapshot.encode(to: encoder)
    values = encoder.values
  }
}

/// Collects the values of one container keyed by name, of any types.
private final class SnapshotEncoder: Encoder {
  var values: [String: Any?] = [:]
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(SnapshotContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { programmerError(_complaint) }
  func singleValueContainer() -> any SingleValueEncodingContainer { programmerError(_complaint) }

  private var _complaint: String {
    "a snapshot has to encode itself into one container keyed by DataStoreSnapshotCodingKey."
  }
}

private struct SnapshotContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: SnapshotEncoder
  let codingPath: [any CodingKey] = []

  mutating func encodeNil(forKey key: Key) { encoder.values[key.stringValue] = .some(nil) }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) {
    encoder.values[key.stringValue] = .some(value)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    programmerError("a snapshot encodes the value of '\(key.stringValue)' whole, not in a container.")
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    programmerError("a snapshot encodes the value of '\(key.stringValue)' whole, not in a container.")
  }

  mutating func superEncoder() -> any Encoder { encoder }
  mutating func superEncoder(forKey key: Key) -> any Encoder { encoder }
}
