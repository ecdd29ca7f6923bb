import CoreData
import Foundation

/// Values that an attribute may have, for tests and for a shootout's invented records.
package enum PlausibleValue {
  /// A value that fulfils the attribute's conditions; nil if none of the usual ones does.
  ///
  /// - Parameter number: Distinguishes the values of several objects.
  package static func value(for attribute: NSAttributeDescription, number: Int) -> Any? {
    let conditions = attribute.validationPredicates.map { condition in
      let copy = condition.copy() as! NSPredicate
      // Those of a compiled model are not evaluated otherwise.
      copy.allowEvaluation()
      return copy
    }
    return _candidates(attribute, number).first { value in
      conditions.allSatisfy { $0.evaluate(with: value) }
    }
  }

  private static func _candidates(_ attribute: NSAttributeDescription, _ number: Int) -> [Any] {
    let name = attribute.name
    // 2020-01-01 and the days after it.
    let day = Date(timeIntervalSinceReferenceDate: 599_529_600 + Double(number) * 86400)
    switch attribute.attributeType {
    case .integer16AttributeType: return _numbers(number, upTo: Int(Int16.max)).map { $0 as NSNumber }
    case .integer32AttributeType: return _numbers(number, upTo: Int(Int32.max)).map { $0 as NSNumber }
    case .integer64AttributeType: return _numbers(number, upTo: 1 << 53).map { $0 as NSNumber }
    case .doubleAttributeType:
      return (_numbers(number, upTo: 1 << 53).map(Double.init) + [0.5]).map { $0 as NSNumber }
    case .floatAttributeType:
      return (_numbers(number, upTo: 1 << 23).map(Float.init) + [0.5]).map { $0 as NSNumber }
    case .decimalAttributeType:
      return _numbers(number, upTo: 1 << 53).map { NSDecimalNumber(decimal: Decimal($0)) }
    case .booleanAttributeType: return [false as NSNumber, true as NSNumber]
    case .stringAttributeType:
      let short = String(number, radix: 36)
      return [
        "\(name) \(number)", "\(name)\(number)@example.com", "https://example.com/\(name)/\(number)", short,
        String(repeating: "0", count: max(0, 8 - short.count)) + short,
        "\(name) \(number)" + String(repeating: " and so on", count: 20),
      ]
    case .dateAttributeType:
      return [day, Date(), Date(timeIntervalSinceNow: 86400 * 365), Date(timeIntervalSinceReferenceDate: 0)]
    case .UUIDAttributeType:
      return [UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", number)) ?? UUID()]
    case .URIAttributeType: return [URL(string: "https://example.com/\(name)/\(number)")!]
    case .binaryDataAttributeType: return [Data("\(name) \(number)".utf8)]
    default: return []
    }
  }

  private static func _numbers(_ number: Int, upTo most: Int) -> [Int] {
    [number % most, 1, 0, 10, 100, 1000, 10_000, 100_000, -1].filter { $0 <= most }
  }
}
