import CoreDataModelSchema
import Testing

@testable import CoreData

@Suite("Reading and showing attribute values")
struct AttributeCodingTests {
  private func _coding(_ type: AttributeType, _ change: (inout AttributeSchema) -> Void = { _ in })
    -> AttributeCoding
  {
    var attribute = AttributeSchema(traits: PropertyTraits(name: "a"), type: type)
    change(&attribute)
    return AttributeCoding(attribute, entityName: "E")
  }

  @Test(arguments: [
    7 as any Sendable, Int8(7), Int16(7), Int32(7), Int64(7), UInt(7), UInt8(7), UInt16(7), UInt32(7),
    UInt64(7), 7.0, Float(7),
    Decimal(7), NSNumber(value: 7), NSNumber(value: 7.0), NSNumber(value: UInt64(7)),
    NSDecimalNumber(value: 7),
    Optional(7) as any Sendable,
  ])
  func `an integer attribute takes every kind of whole number`(value: any Sendable) throws {
    for type in [AttributeType.integer16, .integer32, .integer64] {
      #expect(try _coding(type).value(from: value) == .int(7))
    }
  }

  @Test func `nil, an empty optional and NSNull are null`() throws {
    let empty: String? = nil
    for type in AttributeType.allCases {
      #expect(try _coding(type).value(from: nil) == .null)
      #expect(try _coding(type).value(from: NSNull()) == .null)
      #expect(try _coding(type).value(from: empty as Any) == .null)
    }
  }

  @Test func `out-of-range numbers keep their low bits`() throws {
    #expect(try _coding(.integer16).value(from: 40_000) == .int(-25_536))
    #expect(try _coding(.integer16).value(from: UInt16(40_000)) == .int(-25_536))
    #expect(try _coding(.integer16).value(from: Decimal(40_000)) == .int(-25_536))
    #expect(try _coding(.integer32).value(from: NSNumber(value: Int64.max)) == .int(-1))
    #expect(try _coding(.integer64).value(from: UInt64.max) == .int(-1))
    #expect(try _coding(.integer64).value(from: NSNumber(value: UInt64.max)) == .int(-1))
    #expect(try _coding(.integer64).value(from: 1.5) == .int(1))
    #expect(try _coding(.integer64).value(from: NSNumber(value: -1.5)) == .int(-1))
    #expect(try _coding(.integer64).value(from: NSDecimalNumber(string: "-1.5")) == .int(-1))
    #expect(try _coding(.integer64).value(from: Double.infinity) == .int(.max))
    #expect(try _coding(.integer64).value(from: -1e300) == .int(.min))
    #expect(try _coding(.integer64).value(from: Decimal(string: "1e30")!) == .int(.max))
    #expect(try _coding(.integer64).value(from: Decimal.nan) == .int(0))
    #expect(try _coding(.integer64).value(from: Float.nan) == .int(0))
  }

  @Test func `booleans come from Bool and numbers`() throws {
    for value in [true as Any, 1, 2, NSNumber(value: true), UInt8(1)] {
      #expect(try _coding(.boolean).value(from: value) == .int(1))
    }
    #expect(try _coding(.boolean).value(from: false) == .int(0))
    #expect(try _coding(.boolean).object(from: .int(1)) as? Bool == true)
  }

  @Test func `floating-point attributes accept any number`() throws {
    for value in [2 as Any, 2.0, Float(2), Int8(2), Decimal(2), NSNumber(value: 2)] {
      #expect(try _coding(.double).value(from: value) == .double(2))
    }
    #expect(try _coding(.float).value(from: 0.1) == .double(Double(Float(0.1))))
    #expect(try _coding(.float).object(from: .double(Double(Float(0.1)))) as? Float == 0.1)
  }

  @Test func `decimals keep their digits`() throws {
    let precise = Decimal(string: "3.141592653589793238462643383279")!
    guard case .decimal(let box) = try _coding(.decimal).value(from: precise) else {
      throw CancellationError()
    }
    #expect(box.decimal == precise)
    for value in [0.1 as Any, NSNumber(value: 0.1), Float(0.1), NSDecimalNumber(string: "0.1")] {
      guard case .decimal(let box) = try _coding(.decimal).value(from: value) else {
        throw CancellationError()
      }
      #expect(box.decimal == Decimal(string: "0.1"))
    }
    #expect(try _coding(.decimal).object(from: .decimal(box)) is NSDecimalNumber)
  }

  @Test func `text, dates, data, UUIDs, URLs come as values or objects`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let uuid = UUID()
    #expect(try _coding(.string).value(from: "x") == .string("x"))
    #expect(try _coding(.string).value(from: "xy".prefix(1)) == .string("x"))
    #expect(try _coding(.string).value(from: NSString(string: "x")) == .string("x"))
    #expect(try _coding(.date).value(from: date) == .double(5))
    #expect(try _coding(.date).value(from: NSDate(timeIntervalSinceReferenceDate: 5)) == .double(5))
    #expect(try _coding(.binaryData).value(from: Data([1])) == .data(Data([1])))
    #expect(try _coding(.binaryData).value(from: NSData(data: Data([1]))) == .data(Data([1])))
    #expect(try _coding(.uuid).value(from: uuid) == .uuid(uuid))
    #expect(try _coding(.uuid).value(from: NSUUID(uuidString: uuid.uuidString)!) == .uuid(uuid))
    #expect(try _coding(.uri).value(from: URL(string: "a://b")!) == .string("a://b"))
    #expect(try _coding(.uri).value(from: NSURL(string: "a://b")!) == .string("a://b"))
  }

  @Test func `what is read is shown as the same value`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let uuid = UUID()
    func shown(_ type: AttributeType, _ value: Any) throws -> Any? {
      let coding = _coding(type)
      return try coding.object(from: coding.value(from: value))
    }
    #expect(try shown(.string, "x") as? String == "x")
    #expect(try shown(.date, date) as? Date == date)
    #expect(try shown(.binaryData, Data([1])) as? Data == Data([1]))
    #expect(try shown(.uuid, uuid) as? UUID == uuid)
    #expect(try shown(.uri, URL(string: "a://b")!) as? URL == URL(string: "a://b"))
    for number in [-2, -1, 0, 255, 256, 1 << 40] {
      #expect(try shown(.integer64, number) as? Int == number)
      #expect(try shown(.integer64, number) as? Int64 == Int64(number))
      #expect(try shown(.integer64, number) is NSNumber)
    }
  }

  @Test(arguments: [
    (AttributeType.string, 1 as any Sendable), (.integer32, "1"), (.double, "1"), (.boolean, "YES"),
    (.date, 1.0),
    (.binaryData, "x"), (.uuid, "x"), (.uri, "x://y"), (.decimal, "1"), (.composite, 1), (.objectID, 1),
  ])
  func `a value of the wrong kind is refused`(type: AttributeType, value: any Sendable) {
    #expect(throws: AttributeValueError.self) { try _coding(type).value(from: value) }
  }

  @Test func `a composite with an unknown key is refused`() throws {
    let coding = _coding(.composite) {
      $0.elements = [
        AttributeSchema(traits: PropertyTraits(name: "x"), type: .double),
        AttributeSchema(traits: PropertyTraits(name: "y"), type: .double),
      ]
    }
    let value = try coding.value(from: ["x": 1])
    guard case .composite(let box) = value else { throw CancellationError() }
    #expect(box.values == [.double(1), .null])
    let shown = try coding.object(from: value) as? [String: Any]
    #expect(shown?["x"] as? Double == 1)
    #expect(shown?.count == 1)
    #expect(throws: AttributeValueError.self) { try coding.value(from: ["z": 1]) }
  }

  @Test func `a transformable without transformer is a keyed archive`() throws {
    let coding = _coding(.transformable)
    guard case .transformable(let box) = try coding.value(from: ["a", "b"] as NSArray) else {
      throw CancellationError()
    }
    let data = try #require(try coding.data(from: box))
    let again = try coding.object(from: .transformable(TransformableBox(object: nil, data: data)))
    #expect(again as? NSArray == ["a", "b"] as NSArray)
    #expect(throws: AttributeValueError.self) {
      try coding.object(from: .transformable(TransformableBox(object: nil, data: Data([1, 2, 3]))))
    }
  }

  @Test(arguments: ["NSSecureUnarchiveFromData", "NSUnarchiveFromData"])
  func `the archive transformers are applied backwards`(name: String) throws {
    let coding = _coding(.transformable) { $0.valueTransformerName = name }
    let data = try #require(
      try coding.data(from: TransformableBox(object: ["k": 1] as NSDictionary, data: nil)))
    let again = try coding.object(from: TransformableBox(object: nil, data: data))
    #expect(again as? NSDictionary == ["k": 1] as NSDictionary)
  }

  @Test func `an empty archive is an error, since it would read as nil`() {
    let name = NSValueTransformerName("EmptyArchiveTransformer")
    ValueTransformer.setValueTransformer(EmptyArchiveTransformer(), forName: name)
    let coding = _coding(.transformable) { $0.valueTransformerName = name.rawValue }
    let error = #expect(throws: AttributeValueError.self) {
      try coding.data(from: TransformableBox(object: ["a"], data: nil))
    }
    #expect(error?.description.contains("--static-swift-stdlib") == true)
  }

  @Test func `a custom transformer makes data from the object and back`() throws {
    let name = NSValueTransformerName("ReversingTransformer")
    ValueTransformer.setValueTransformer(ReversingTransformer(), forName: name)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    #expect(ValueTransformer(forName: name) is ReversingTransformer)
    let coding = _coding(.transformable) { $0.valueTransformerName = name.rawValue }
    let data = try coding.data(from: TransformableBox(object: "abc", data: nil))
    #expect(data == Data("cba".utf8))
    #expect(try coding.object(from: TransformableBox(object: nil, data: data)) as? String == "abc")
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
    let error = #expect(throws: AttributeValueError.self) {
      try coding.data(from: TransformableBox(object: "abc", data: nil))
    }
    #expect(error?.description.contains("ReversingTransformer") == true)
  }
}

/// Archives like Foundation in a program linked with `--static-swift-stdlib`.
private final class EmptyArchiveTransformer: NSSecureUnarchiveFromDataTransformer {
  override func reverseTransformedValue(_ value: Any?) -> Any? { Data() }
}

private final class ReversingTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data(String($0.reversed()).utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
  }
}
