import Foundation

/// The coder passed to the `init(coder:)` of an object in a secure archive.
final class SecureCoder: NSCoder {
  private let _decoder: SecureArchiveDecoder
  private let _fields: PlistFields
  private let _depth: Int
  /// Index of the next value without a key.
  private var _next = 0

  init(_ decoder: SecureArchiveDecoder, _ fields: PlistFields, depth: Int) {
    _decoder = decoder
    _fields = fields
    _depth = depth
  }

  override var allowsKeyedCoding: Bool { true }
  override var requiresSecureCoding: Bool { true }
  override var allowedClasses: [AnyClass]? { _decoder.allowed.last }
  override var decodingFailurePolicy: DecodingFailurePolicy { .setErrorAndReturn }

  override func failWithError(_ error: any Error) { _decoder.fail(error) }

  override func containsValue(forKey key: String) -> Bool { _field(key) != nil }

  // MARK: Objects

  override func decodeObject(forKey key: String) -> Any? { _object(_field(key)) }

  override func decodeObject() -> Any? { _object(_nextField()) }

  override func decodeObject<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> Object?
  {
    decodeObject(of: [type], forKey: key) as? Object
  }

  override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
    guard let classes, let field = _field(key) else { return decodeObject(forKey: key) }
    return _decoder.allowing(classes) {
      let object = _object(field)
      do {
        try _decoder.check(object)
        return object
      } catch {
        _decoder.fail(error)
        return nil
      }
    }
  }

  override func decodePropertyList(forKey key: String) -> Any? {
    decodeObject(
      of: [NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self],
      forKey: key)
  }

  override func decodeData() -> Data? { (decodeObject() as? NSData).map { Data(referencing: $0) } }

  private func _object(_ field: PlistValue?) -> Any? {
    guard let field, _decoder.failure == nil else { return nil }
    do {
      return try _decoder.decode(field, depth: _depth + 1)
    } catch {
      _decoder.fail(error)
      return nil
    }
  }

  // MARK: Values

  override func decodeBool(forKey key: String) -> Bool { _number(key)?.boolValue ?? false }
  override func decodeInt32(forKey key: String) -> Int32 { _number(key)?.int32Value ?? 0 }
  override func decodeCInt(forKey key: String) -> Int32 { _number(key)?.int32Value ?? 0 }
  override func decodeInt64(forKey key: String) -> Int64 { _number(key)?.int64Value ?? 0 }
  override func decodeInteger(forKey key: String) -> Int { _number(key)?.intValue ?? 0 }
  override func decodeFloat(forKey key: String) -> Float { _number(key)?.floatValue ?? 0 }
  override func decodeDouble(forKey key: String) -> Double { _number(key)?.doubleValue ?? 0 }

  override func withDecodedUnsafeBytes<Result>(
    forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    guard case .data(let bytes)? = _field(key) else { return try body(nil) }
    return try bytes.withUnsafeBytes { try body($0) }
  }

  override func decodeValue(ofObjCType type: UnsafePointer<Int8>, at address: UnsafeMutableRawPointer) {
    _decoder.fail(
      PlainArchiveError(reason: "an object has values without keys, which secure coding does not read"))
  }

  private func _number(_ key: String) -> NSNumber? {
    switch _field(key) {
    case .boolean(let flag): NSNumber(value: flag)
    case .integer(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    default: nil
    }
  }

  /// The archiver doubles the dollar of keys that start with one.
  private func _field(_ key: String) -> PlistValue? { _fields[key.hasPrefix("$") ? "$" + key : key] }

  private func _nextField() -> PlistValue? {
    defer { _next += 1 }
    return _fields["$\(_next)"]
  }
}
