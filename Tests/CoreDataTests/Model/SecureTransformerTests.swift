import Foundation
import Synchronization
import Testing

@testable import CoreData

/// How the secure transformer handles foreign archives.
@Suite struct SecureTransformerTests {
  init() {
    for (type, name): (AnyClass, String) in [
      (ArchivedIntruder.self, "SecureTestIntruder"), (ArchivedGarden.self, "SecureTestGarden"),
      (ArchivedPlant.self, "SecureTestPlant"),
    ] as [(AnyClass, String)] {
      NSKeyedArchiver.setClassName(name, for: type)
      NSKeyedUnarchiver.setClass(type, forClassName: name)
    }
  }

  private func _archive(_ object: Any) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
  }

  /// Returns collections that contain a disallowed object.
  private static func _hiding(_ intruder: Any) -> [Any] {
    [
      intruder, NSArray(array: [intruder]), NSArray(array: [NSArray(array: [intruder])]),
      NSDictionary(object: intruder, forKey: "key" as NSString),
      NSArray(array: [
        "text" as NSString, NSDictionary(object: NSArray(array: [intruder]), forKey: 1 as NSNumber),
      ]),
      NSSet(array: [NSArray(array: [intruder])]),
    ]
  }

  @Test(arguments: 0..<6) func `An object of a class that is not allowed is never made`(_ place: Int) throws {
    let data = try _archive(Self._hiding(ArchivedIntruder())[place])
    let before = ArchivedIntruder.count.withLock { $0 }
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(data) == nil)
    #expect(ArchivedIntruder.count.withLock { $0 } == before)
  }

  @Test func `Plain values come back`() throws {
    let value = NSDictionary(
      object: NSArray(array: ["a" as NSString, 1 as NSNumber, Date(timeIntervalSince1970: 0) as NSDate]),
      forKey: "key" as NSString)
    let back = try NSSecureUnarchiveFromDataTransformer().transformedValue(_archive(value))
    #expect(back as? NSDictionary == value)
  }

  @Test func `An allowed collection can hold plain values`() throws {
    let back = try OnlyArrays().transformedValue(_archive(NSArray(array: ["a" as NSString, 1 as NSNumber])))
    #expect((back as? NSArray)?.count == 2)
    try #expect(OnlyArrays().transformedValue(_archive("a" as NSString)) == nil)
    try #expect(OnlyArrays().transformedValue(_archive(NSArray(array: [NSUUID()]))) == nil)
  }

  @Test func `An allowed class reads what it asks for`() throws {
    let garden = ArchivedGarden(
      name: "Kew", plants: [ArchivedPlant("oak"), ArchivedPlant("ivy")], size: 3, isOpen: true)
    let back = try #require(try Gardens().transformedValue(_archive(garden)) as? ArchivedGarden)
    #expect(back.name == "Kew")
    #expect(back.plants.map(\.name) == ["oak", "ivy"])
    #expect(back.size == 3)
    #expect(back.isOpen)
    // Plants are allowed only where the garden asks for them.
    try #expect(Gardens().transformedValue(_archive(ArchivedPlant("oak"))) == nil)
  }

  @Test func `An object that an allowed class does not ask for is not made`() throws {
    let garden = ArchivedGarden(name: "Kew", plants: [ArchivedIntruder()], size: 3, isOpen: true)
    let before = ArchivedIntruder.count.withLock { $0 }
    try #expect(Gardens().transformedValue(_archive(garden)) == nil)
    let other = ArchivedGarden(name: NSArray(array: [ArchivedIntruder()]), plants: [], size: 3, isOpen: true)
    try #expect(Gardens().transformedValue(_archive(other)) == nil)
    #expect(ArchivedIntruder.count.withLock { $0 } == before)
  }

  @Test func `A class without secure coding is not decoded`() throws {
    try #expect(Insecurities().transformedValue(_archive(ArchivedInsecurity())) == nil)
  }

  @Test(arguments: [Data(), Data([1, 2, 3]), Data("bplist00".utf8)]) func `What is no archive is nil`(
    _ data: Data
  ) {
    #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(data) == nil)
  }
}

private final class OnlyArrays: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self] }
}

private final class Gardens: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [ArchivedGarden.self] }
}

private final class Insecurities: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [ArchivedInsecurity.self] }
}

/// Counts the instances decoded from archives.
final class ArchivedIntruder: NSObject, NSSecureCoding {
  static let count = Mutex(0)
  static var supportsSecureCoding: Bool { true }
  override init() {}
  init?(coder: NSCoder) { Self.count.withLock { $0 += 1 } }
  func encode(with coder: NSCoder) { coder.encode("x" as NSString, forKey: "x") }
}

final class ArchivedInsecurity: NSObject, NSCoding {
  override init() {}
  init?(coder: NSCoder) {}
  func encode(with coder: NSCoder) {}
}

final class ArchivedPlant: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let name: String
  init(_ name: String) { self.name = name }
  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    self.name = String(name)
  }
  func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
}

final class ArchivedGarden: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  private let _name: Any
  private let _plants: [Any]
  let size: Int
  let isOpen: Bool
  var name: String? { (_name as? NSString).map { String($0) } }
  var plants: [ArchivedPlant] { _plants.compactMap { $0 as? ArchivedPlant } }

  init(name: Any, plants: [Any], size: Int, isOpen: Bool) {
    (_name, _plants, self.size, self.isOpen) = (
      name is String ? (name as! String) as NSString : name, plants, size, isOpen
    )
  }

  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name"),
      let plants = coder.decodeObject(of: [NSArray.self, ArchivedPlant.self], forKey: "plants") as? NSArray
    else { return nil }
    (_name, _plants) = (name, plants.map { $0 })
    size = coder.decodeInteger(forKey: "size")
    isOpen = coder.decodeBool(forKey: "isOpen")
  }

  func encode(with coder: NSCoder) {
    coder.encode(_name, forKey: "name")
    coder.encode(NSArray(array: _plants), forKey: "plants")
    coder.encode(size, forKey: "size")
    coder.encode(isOpen, forKey: "isOpen")
  }
}
