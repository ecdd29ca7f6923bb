import Foundation

/// Decodes keyed archives with secure coding: an object is created only if its class or a superclass is
/// requested at its position.
///
/// `NSKeyedUnarchiver` on this platform traps for an object of another class, and stores contain other
/// programs' data. This decoder creates plain values itself and passes its own coder to objects of other
/// classes; an archive with anything else is an error.
package enum SecureArchive {
  /// Decodes the root object of the archive in `data`; nil if nil was archived.
  ///
  /// Text, numbers, dates, data, arrays and dictionaries are allowed anywhere below the root, as on Apple's
  /// platforms, as are the classes that the `init(coder:)` of an allowed class requests with
  /// `decodeObject(of:forKey:)`.
  ///
  /// - Throws: `PlainArchiveError` for an invalid archive, or one with an object of another class.
  package static func decode(_ data: Data, classes: [AnyClass]) throws -> Any? {
    do {
      let decoder = try SecureArchiveDecoder(data, classes: classes)
      let object = try decoder.decodeRoot()
      if let failure = decoder.failure { throw failure }
      try decoder.check(object)
      return object
    } catch let error as BinaryPlistError {
      throw PlainArchiveError(reason: error.reason)
    }
  }
}

/// Creates objects of allowed classes.
final class SecureArchiveDecoder: PlainArchiveDecoder {
  /// Requested classes, by nesting of the objects being decoded.
  private(set) var allowed: [[AnyClass]]
  /// The first error inside an `init(coder:)`, which cannot throw.
  private(set) var failure: (any Error)?

  init(_ data: Data, classes: [AnyClass]) throws {
    allowed = [classes]
    try super.init(data)
  }

  /// Runs `body` with other requested classes.
  func allowing<Result>(_ classes: [AnyClass], _ body: () throws -> Result) rethrows -> Result {
    allowed.append(classes)
    defer { allowed.removeLast() }
    return try body()
  }

  func fail(_ error: any Error) { if failure == nil { failure = error } }

  override func object(ofClass name: String, _ fields: PlistFields, depth: Int) throws -> Any? {
    // After a failure, create no more objects.
    if let failure { throw failure }
    switch name {
    case "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSString", "NSMutableString",
      "NSData", "NSMutableData", "NSDate":
      return try super.object(ofClass: name, fields, depth: depth)
    case "NSSet", "NSMutableSet", "NSURL", "NSUUID", "NSNull":
      let object = try super.object(ofClass: name, fields, depth: depth)
      try check(object)
      return object
    default: return try _object(of: _class(named: name), name, fields, depth: depth)
    }
  }

  /// Rejects an object of a class that was not requested.
  func check(_ object: Any?) throws {
    guard let object = object as AnyObject? else { return }
    guard _isAllowed(type(of: object)) else { throw _refusal(of: "\(type(of: object))") }
  }

  private func _class(named name: String) throws -> AnyClass {
    guard let found = NSKeyedUnarchiver.class(forClassName: name) ?? NSClassFromString(name) else {
      throw PlainArchiveError(
        reason: "it holds an object of the class '\(name)', which is not in this program; write the class, "
          + "or map the name with NSKeyedUnarchiver.setClass(_:forClassName:)")
    }
    return found
  }

  private func _isAllowed(_ type: AnyClass) -> Bool {
    allowed.last?.contains { $0 == type || (type as? NSObject.Type)?.isSubclass(of: $0) == true } ?? false
  }

  private func _refusal(of name: String) -> PlainArchiveError {
    let known = (allowed.last ?? []).map { "\($0)" }.joined(separator: ", ")
    return PlainArchiveError(
      reason: "it holds an object of the class '\(name)', where only these are allowed: \(known)")
  }

  private func _object(
    of type: AnyClass, _ name: String, _ fields: PlistFields, depth: Int
  ) throws -> Any? {
    guard _isAllowed(type) else { throw _refusal(of: name) }
    let made: AnyClass = (type as? NSObject.Type)?.classForKeyedUnarchiver() ?? type
    guard let coding = made as? any NSSecureCoding.Type, coding.supportsSecureCoding else {
      throw PlainArchiveError(reason: "its class '\(name)' does not support secure coding")
    }
    let object = coding.init(coder: SecureCoder(self, fields, depth: depth))
    if let failure { throw failure }
    guard let object else {
      throw PlainArchiveError(reason: "an object of the class '\(name)' cannot be decoded")
    }
    return object
  }
}
