import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The validation checks of an entity, by slot. Most slots have none.
///
/// Limits from the model editor are checked on raw cells. Predicates set in code replace them and are
/// evaluated on the value that `value(forKey:)` returns.
struct ValidationPlan: Sendable {
  enum Check: Sendable {
    case mandatory
    case integerRange(min: Int64?, max: Int64?)
    case numberRange(min: Double?, max: Double?)
    case decimalRange(min: Decimal?, max: Decimal?)
    case dateRange(min: Double?, max: Double?)
    case lengthRange(min: Int?, max: Int?)
    case pattern(String)
    /// Number of members of a to-many.
    case memberCount(min: Int, max: Int, isOptional: Bool)
    /// A predicate evaluated on the value. A numeric warning is the code of the error.
    case predicate(PredicateTree, code: Int, message: String?)
  }

  private let _checks: [[Check]]
  /// The slots that have checks.
  let slots: [Int]
  /// Whether all checks are for mandatory attributes and to-ones.
  let isMandatoryOnly: Bool
  var isEmpty: Bool { slots.isEmpty }

  init(_ layout: PropertyLayout, _ properties: [NSPropertyDescription?]) {
    _checks = zip(layout.slots, properties).map { slot, property in
      if slot.isHidden { return [] }
      switch slot.kind {
      case .attribute(let attribute):
        return Self._checks(attribute, property as? NSAttributeDescription, layout.entityName)
      case .relationship(let relationship):
        var checks: [Check] = []
        if !relationship.isToMany {
          if !slot.isOptional { checks.append(.mandatory) }
        } else if relationship.minCount > 0 || relationship.maxCount > 0 {
          // A mandatory to-many without a minimum count may be empty: many shipped models have such
          // relationships and store no members.
          checks.append(
            .memberCount(min: relationship.minCount, max: relationship.maxCount, isOptional: slot.isOptional))
        }
        return checks + Self._predicates(property, layout.entityName)
      }
    }
    let checks = _checks
    slots = checks.indices.filter { !checks[$0].isEmpty }
    isMandatoryOnly = slots.allSatisfy { slot in
      guard checks[slot].count == 1, case .mandatory = checks[slot][0] else { return false }
      return !layout.slots[slot].isToMany
    }
  }

  // MARK: Making checks

  private static func _checks(
    _ attribute: AttributeSchema, _ description: NSAttributeDescription?, _ entity: String
  ) -> [Check] {
    var checks: [Check] = []
    if !attribute.isOptional { checks.append(.mandatory) }
    if description?.explicitValidation == nil { checks += _limits(attribute) }
    return checks + _predicates(description, entity)
  }

  private static func _limits(_ attribute: AttributeSchema) -> [Check] {
    let limits = attribute.limits
    guard !limits.isEmpty else { return [] }
    let (low, high) = (limits.minimum?.decimal, limits.maximum?.decimal)
    var checks: [Check] = []
    switch attribute.type.form {
    case .string:
      if low != nil || high != nil {
        checks.append(.lengthRange(min: low.map(_length), max: high.map(_length)))
      }
      if let pattern = limits.regularExpression { checks.append(.pattern(pattern)) }
    case .date:
      checks.append(.dateRange(min: low.map(_double), max: high.map(_double)))
    case .integer16, .integer32, .integer64:
      if let low = _whole(low), let high = _whole(high) {
        checks.append(.integerRange(min: low, max: high))
      } else {
        checks.append(.decimalRange(min: low, max: high))
      }
    case .float:
      // Rounded to single precision, as the values are: a limit of 0.1 is the nearest float.
      checks.append(
        .numberRange(
          min: low.map { Double(Float(_double($0))) }, max: high.map { Double(Float(_double($0))) }))
    case .double:
      checks.append(.numberRange(min: low.map(_double), max: high.map(_double)))
    case .decimal:
      checks.append(.decimalRange(min: low, max: high))
    default: break
    }
    return checks
  }

  private static func _double(_ decimal: Decimal) -> Double { NSDecimalNumber(decimal: decimal).doubleValue }

  /// Clamps a limit on a length to the range of lengths.
  private static func _length(_ decimal: Decimal) -> Int { Int(max(0, min(_double(decimal), 1e15))) }

  /// `.some(nil)` without a bound; nil for a bound that is not a 64-bit integer.
  private static func _whole(_ decimal: Decimal?) -> Int64?? {
    guard let decimal else { return .some(nil) }
    let int = NSDecimalNumber(decimal: decimal).int64Value
    return Decimal(int) == decimal ? .some(int) : nil
  }

  /// Returns the checks for predicates set in code, or else for those of the model file. Skips a predicate
  /// that cannot be evaluated and logs it to standard error.
  private static func _predicates(_ property: NSPropertyDescription?, _ entity: String) -> [Check] {
    guard let property else { return [] }
    func checks<Source>(_ sources: [Source], _ make: (Int, Source) throws -> Check) -> [Check] {
      sources.enumerated().compactMap { index, source in
        do {
          return try make(index, source)
        } catch {
          Console.warnOnce(
            about: "validation of \(entity).\(property.name) \(index)",
            "a validation predicate of '\(entity).\(property.name)' is left out: \(error)")
          return nil
        }
      }
    }
    if let explicit = property.explicitValidation {
      return checks(explicit.predicates) { index, predicate in
        _check(
          try PredicateTree(predicate), index < explicit.warnings.count ? explicit.warnings[index] : nil)
      }
    }
    return checks((property as? NSAttributeDescription)?.fileValidations ?? []) { _, validation in
      _check(try PredicateTree(ModelText.predicate(validation.predicate)), validation.warning)
    }
  }

  private static func _check(_ tree: PredicateTree, _ warning: Any?) -> Check {
    let number = (warning as? NSNumber)?.intValue ?? (warning as? String).flatMap { Int($0) }
    let message = number == nil ? (warning as? String).flatMap { $0.isEmpty ? nil : $0 } : nil
    return .predicate(tree, code: number ?? NSManagedObjectValidationError, message: message)
  }

  // MARK: Checking

  /// Checks the current value of an object's slot.
  func check(_ slot: Int, of object: NSManagedObject) throws {
    let checks = _checks[slot]
    if checks.isEmpty { return }
    guard object._layout.slots[slot].isToMany else {
      if object.isUnsetTransient(slot) { return }
      return try check(object.read(slot), slot, of: object)
    }
    // A to-many that is neither loaded nor dirty still has its saved members.
    guard object.isInserted || object._changed.contains(slot) || object._relations?.members(slot) != nil
    else { return }
    try checkMembers(object.members(slot).count, slot, of: object) { object.value(at: slot) }
  }

  /// Checks a new value for an attribute or to-one.
  func check(_ value: Value, _ slot: Int, of object: NSManagedObject) throws {
    let key = object._layout.slots[slot].name
    for check in _checks[slot] {
      if case .mandatory = check {
        if value.isNull { throw ValidationErrors.missing(object, key) }
        continue
      }
      if value.isNull { continue }
      if case .predicate(let tree, let code, let message) = check {
        try _evaluate(tree, code, message, object.shownValue(value, slot), slot, object)
      } else if let (code, reason) = _failure(check, value) {
        throw ValidationErrors.make(code, object, key, object.shownIfAttribute(value, slot), reason)
      }
    }
  }

  /// Checks the member count of a to-many.
  func checkMembers(_ count: Int, _ slot: Int, of object: NSManagedObject, _ value: () -> Any?) throws {
    for check in _checks[slot] {
      switch check {
      case .memberCount(let low, let high, let isOptional):
        try _count(count, low, high, isOptional, slot, object)
      case .predicate(let tree, let code, let message):
        try _evaluate(tree, code, message, value(), slot, object)
      default: break
      }
    }
  }

  private func _evaluate(
    _ tree: PredicateTree, _ code: Int, _ message: String?, _ value: Any?, _ slot: Int,
    _ object: NSManagedObject
  ) throws {
    let key = object._layout.slots[slot].name
    let reason: String
    do {
      if try tree.evaluate(with: value, nil) { return }
      reason = message ?? "'\(object._layout.entityName).\(key)' does not fulfil '\(tree)'."
    } catch {
      reason = "'\(object._layout.entityName).\(key)' cannot be tested with '\(tree)': \(error)"
    }
    var info: [String: Any] = [
      NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key,
      NSValidationPredicateErrorKey: tree.predicate,
    ]
    if let value { info[NSValidationValueErrorKey] = value }
    throw CocoaError.coreData(code, reason, info)
  }

  private func _failure(_ check: Check, _ value: Value) -> (Int, String)? {
    switch check {
    case .integerRange(let low, let high):
      guard case .int(let number) = value else { return nil }
      if let high, number > high { return (NSValidationNumberTooLargeError, "is greater than \(high)") }
      if let low, number < low { return (NSValidationNumberTooSmallError, "is less than \(low)") }
    case .numberRange(let low, let high):
      guard let number = value.number else { return nil }
      // Written so that NaN is outside any range.
      if let high, !(number <= high) { return (NSValidationNumberTooLargeError, "is greater than \(high)") }
      if let low, !(number >= low) { return (NSValidationNumberTooSmallError, "is less than \(low)") }
    case .decimalRange(let low, let high):
      guard let number = value.exactNumber else { return nil }
      if let high, !(number <= high) { return (NSValidationNumberTooLargeError, "is greater than \(high)") }
      if let low, !(number >= low) { return (NSValidationNumberTooSmallError, "is less than \(low)") }
    case .dateRange(let low, let high):
      guard let moment = value.number else { return nil }
      if let high, moment > high {
        return (NSValidationDateTooLateError, "is later than \(Date(timeIntervalSinceReferenceDate: high))")
      }
      if let low, moment < low {
        return (NSValidationDateTooSoonError, "is earlier than \(Date(timeIntervalSinceReferenceDate: low))")
      }
    case .lengthRange(let low, let high):
      guard case .string(let text) = value else { return nil }
      // NSString counts UTF-16 units, and so do Core Data's limits.
      let length = text.utf16.count
      if let high, length > high { return (NSValidationStringTooLongError, "is longer than \(high)") }
      if let low, length < low { return (NSValidationStringTooShortError, "is shorter than \(low)") }
    case .pattern(let pattern):
      guard case .string(let text) = value else { return nil }
      // An invalid regular expression matches nothing.
      if !((try? StringComparison.matches(text, pattern)) ?? false) {
        return (NSValidationStringPatternMatchingError, "does not match '\(pattern)'")
      }
    case .mandatory, .memberCount, .predicate: break
    }
    return nil
  }

  private func _count(
    _ count: Int, _ low: Int, _ high: Int, _ isOptional: Bool, _ slot: Int, _ object: NSManagedObject
  ) throws {
    let key = object._layout.slots[slot].name
    if count == 0, isOptional { return }
    if high > 0, count > high {
      throw ValidationErrors.make(
        NSValidationRelationshipExceedsMaximumCountError, object, key, nil,
        "has \(count) members; at most \(high) may be")
    }
    if count < low {
      throw ValidationErrors.make(
        NSValidationRelationshipLacksMinimumCountError, object, key, nil,
        "has \(count) members; at least \(low) must be")
    }
  }
}

extension NSManagedObject {
  final func shownIfAttribute(_ value: Value, _ slot: Int) -> Any? {
    _shape.codings[slot] == nil ? nil : shown(value, slot)
  }

  /// Returns a cell as `value(forKey:)` does: decoded, a to-one as an object.
  final func shownValue(_ value: Value, _ slot: Int) -> Any? {
    switch value {
    case .reference(let key): _context?.registry.object(for: key)
    case .pending(let id) where _shape.codings[slot] == nil: _context?.registry.objectOrFault(id)
    default: shownIfAttribute(value, slot)
    }
  }
}

extension Value {
  /// An integer, floating-point or decimal value as a double.
  var number: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    case .decimal(let box): NSDecimalNumber(decimal: box.decimal).doubleValue
    default: nil
    }
  }

  /// An integer, floating-point or decimal value without loss of precision; a double by its shortest
  /// description.
  var exactNumber: Decimal? {
    switch self {
    case .int(let int): Decimal(int)
    case .double(let double): double.isFinite ? Decimal(string: "\(double)", locale: nil) : .nan
    case .decimal(let box): box.decimal
    default: nil
    }
  }
}
