import Foundation
import ModelSchema
import PredicateLanguage

// The rules that the model states.

extension NSManagedObject {
  final func validateAllProperties() throws {
    let plan = _shape.validation
    if plan.isEmpty, !_shape.hasOwnClass { return }
    if isFault { fireFault() }
    var errors: [any Error] = []
    for (slot, description) in _layout.slots.enumerated() where !description.isHidden {
      do {
        if _shape.hasOwnClass, description.attribute != nil {
          // Through the overridable method: it may replace the value.
          var value = self.value(at: slot)
          let before = _current?[slot] ?? .null
          try validateValue(&value, forKey: description.name)
          let after = try _shape.codings[slot]!.value(from: value)
          if after != before { write(after, at: slot) }
        } else {
          try plan.check(slot, of: self)
        }
      } catch {
        errors += ValidationErrors.flatten(error)
      }
    }
    try ValidationErrors.throwIfAny(errors)
  }

  final func validateBuiltIn(_ value: inout Any?, _ key: String) throws {
    guard let slot = _layout.slot(named: key) else {
      _ = self.value(forUndefinedKey: key)
      return
    }
    if let coding = _shape.codings[slot] {
      let cell: Value
      do {
        cell = try coding.value(from: value)
      } catch {
        throw ValidationErrors.make(NSManagedObjectValidationError, self, key, value, "\(error)")
      }
      try _shape.validation.check(cell, slot, of: self)
    } else if let relationship = _layout.slots[slot].relationship, !relationship.isToMany {
      if value == nil || value is NSNull, !_layout.slots[slot].isOptional {
        throw ValidationErrors.missing(self, key)
      }
    } else {
      try _shape.validation.check(slot, of: self)
    }
  }

  final func validateDeletion() throws {
    for (slot, description) in _layout.slots.enumerated() {
      guard let relationship = description.relationship, relationship.deleteRule == .deny else { continue }
      let others = relationship.isToMany ? members(slot).list : toOne(slot).map { [$0] } ?? []
      guard others.contains(where: { !$0.isDeleted }) else { continue }
      throw ValidationErrors.make(
        NSValidationRelationshipDeniedDeleteError, self, description.name, value(at: slot),
        "'\(_layout.entityName)' cannot be deleted while '\(description.name)' still has objects (delete rule Deny). "
          + "Delete or detach them first.")
    }
  }
}

/// The checks of an entity's slots; most slots of most entities have none.
struct ValidationPlan: Sendable {
  enum Check: Sendable {
    case mandatory
    case numberRange(min: Double?, max: Double?)
    case dateRange(min: Double?, max: Double?)
    case lengthRange(min: Int?, max: Int?)
    case pattern(String)
    case memberCount(min: Int, max: Int, isOptional: Bool)
  }

  private let _checks: [[Check]]
  let isEmpty: Bool

  init(_ layout: PropertyLayout) {
    _checks = layout.slots.map { slot in
      if slot.isHidden { return [] }
      switch slot.kind {
      case .attribute(let attribute): return Self._checks(attribute)
      case .relationship(let relationship):
        if !relationship.isToMany { return slot.isOptional ? [] : [.mandatory] }
        if slot.isOptional, relationship.minCount == 0, relationship.maxCount <= 0 { return [] }
        return [
          .memberCount(min: relationship.minCount, max: relationship.maxCount, isOptional: slot.isOptional)
        ]
      }
    }
    isEmpty = _checks.allSatisfy(\.isEmpty)
  }

  private static func _checks(_ attribute: AttributeSchema) -> [Check] {
    var checks: [Check] = []
    if !attribute.isOptional, !attribute.isTransient { checks.append(.mandatory) }
    let limits = attribute.limits
    guard !limits.isEmpty else { return checks }
    switch attribute.type {
    case .string:
      let (low, high) = (_number(limits.minimum).map { Int($0) }, _number(limits.maximum).map { Int($0) })
      if low != nil || high != nil { checks.append(.lengthRange(min: low, max: high)) }
      if let pattern = limits.regularExpression { checks.append(.pattern(pattern)) }
    case .date:
      checks.append(.dateRange(min: _number(limits.minimum), max: _number(limits.maximum)))
    case .integer16, .integer32, .integer64, .double, .float, .decimal:
      checks.append(.numberRange(min: _number(limits.minimum), max: _number(limits.maximum)))
    default: break
    }
    return checks
  }

  private static func _number(_ literal: SchemaLiteral?) -> Double? {
    switch literal {
    case .integer(let int)?: Double(int)
    case .double(let double)?: double
    case .date(let date)?: date
    case .decimal(let text)?, .string(let text)?: Double(text)
    default: nil
    }
  }

  /// Checks what a slot of an object holds now.
  func check(_ slot: Int, of object: NSManagedObject) throws {
    let checks = _checks[slot]
    if checks.isEmpty { return }
    if object._layout.slots[slot].isToMany {
      for check in checks { try _count(check, slot, object) }
    } else {
      try self.check(object.read(slot), slot, of: object)
    }
  }

  /// Checks a value that a slot is to hold.
  func check(_ value: Value, _ slot: Int, of object: NSManagedObject) throws {
    let key = object._layout.slots[slot].name
    for check in _checks[slot] {
      if case .mandatory = check {
        if value.isNull { throw ValidationErrors.missing(object, key) }
        continue
      }
      if value.isNull { continue }
      if let (code, reason) = _failure(check, value) {
        throw ValidationErrors.make(code, object, key, object.shownIfAttribute(value, slot), reason)
      }
    }
  }

  private func _failure(_ check: Check, _ value: Value) -> (Int, String)? {
    switch check {
    case .numberRange(let low, let high):
      guard let number = value.number else { return nil }
      if let high, number > high { return (NSValidationNumberTooLargeError, "is greater than \(high)") }
      if let low, number < low { return (NSValidationNumberTooSmallError, "is less than \(low)") }
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
      // A pattern that is no regular expression matches nothing.
      if !((try? StringComparison.matches(text, pattern)) ?? false) {
        return (NSValidationStringPatternMatchingError, "does not match '\(pattern)'")
      }
    case .mandatory, .memberCount: break
    }
    return nil
  }

  private func _count(_ check: Check, _ slot: Int, _ object: NSManagedObject) throws {
    guard case .memberCount(let low, let high, let isOptional) = check else { return }
    // What was neither read nor changed has the members it had when it was last saved.
    guard object.isInserted || object._changed.contains(slot) || object._relations?.members(slot) != nil else { return }
    let count = object.members(slot).members.count
    let key = object._layout.slots[slot].name
    if count == 0 {
      if isOptional { return }
      throw ValidationErrors.make(
        NSValidationRelationshipLacksMinimumCountError, object, key, nil, "is mandatory but empty")
    }
    if high > 0, count > high {
      throw ValidationErrors.make(
        NSValidationRelationshipExceedsMaximumCountError, object, key, nil, "has \(count) members; at most \(high) may be")
    }
    if count < low {
      throw ValidationErrors.make(
        NSValidationRelationshipLacksMinimumCountError, object, key, nil, "has \(count) members; at least \(low) must be")
    }
  }
}

extension NSManagedObject {
  final func shownIfAttribute(_ value: Value, _ slot: Int) -> Any? {
    _shape.codings[slot] == nil ? nil : shown(value, slot)
  }
}

extension Value {
  /// Integer, floating or decimal value as a double.
  var number: Double? {
    switch self {
    case .int(let int): Double(int)
    case .double(let double): double
    case .decimal(let box): NSDecimalNumber(decimal: box.decimal).doubleValue
    default: nil
    }
  }
}

/// Makes validation errors, and gathers several into one.
enum ValidationErrors {
  static func make(
    _ code: Int, _ object: NSManagedObject, _ key: String, _ value: Any?, _ reason: String
  ) -> CocoaError {
    var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key]
    if let value { info[NSValidationValueErrorKey] = value }
    return CocoaError.coreData(code, "\(object._layout.entityName).\(key) \(reason).", info)
  }

  static func missing(_ object: NSManagedObject, _ key: String) -> CocoaError {
    make(NSValidationMissingMandatoryPropertyError, object, key, nil, "is mandatory but nil")
  }

  /// The errors inside a multiple-errors error, or the error itself.
  static func flatten(_ error: any Error) -> [any Error] {
    let cocoa = error as NSError
    guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSValidationMultipleErrorsError,
      let details = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error]
    else { return [error] }
    return details
  }

  /// Throws one error as it is, several as one that lists them.
  static func throwIfAny(_ errors: [any Error]) throws {
    guard let first = errors.first else { return }
    if errors.count == 1 { throw first }
    throw CocoaError.coreData(
      NSValidationMultipleErrorsError, "\(errors.count) validation errors; the first: \((first as NSError).localizedDescription)",
      [NSDetailedErrorsKey: errors])
  }
}
