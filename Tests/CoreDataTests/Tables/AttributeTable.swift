import CoreData
import Foundation
import Testing

/// A color that a secure transformer archives.
final class TableColor: NSObject, NSSecureCoding, @unchecked Sendable {
  // Unchecked: immutable.
  static let supportsSecureCoding = true
  let name: String
  init(_ name: String) { self.name = name }
  init?(coder: NSCoder) {
    guard let name = coder.decodeObject(of: NSString.self, forKey: "name") else { return nil }
    self.name = String(describing: name)
  }
  func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: "name") }
  override func isEqual(_ object: Any?) -> Bool { (object as? TableColor)?.name == name }
  override var hash: Int { name.hashValue }
  override var description: String { name }
}

/// Stores a color as the bytes of its name.
final class TableColorTransformer: ValueTransformer {
  static let name = "TableColorTransformer"
  static let register: Void = ValueTransformer.setValueTransformer(
    TableColorTransformer(), forName: NSValueTransformerName(name))
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? TableColor).map { Data($0.name.utf8) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { TableColor(String(decoding: $0, as: UTF8.self)) }
  }
}

/// A raw type of an attribute.
enum TableSize: Int32 { case small = 3, large = 70_000 }

/// How a property is read and written.
struct TableAccess: Sendable {
  let name: String
  /// The value as text, "nil" for none.
  let text: @Sendable (NSManagedObject, _ property: String) -> String
  /// Sets the value with a number of the form; nil as the number sets nil.
  let set: @Sendable (NSManagedObject, _ property: String, _ number: Int?) -> Void
  /// Whether it can read and write nil.
  let takesNil: Bool
}

/// A type of attribute with its values, and the ways to read and write it.
struct AttributeForm: Sendable, CustomTestStringConvertible {
  let name: String
  let type: NSAttributeType
  /// The values by number; the first one is the default where there is one.
  let values: @Sendable () -> [Any]
  /// The texts of the values.
  let texts: [String]
  let accesses: [TableAccess]

  var testDescription: String { name }

  /// - Parameters:
  ///   - optional: Reads and writes a key whose value can be nil.
  ///   - required: Reads and writes a key whose value cannot.
  fileprivate init<Value: Sendable>(
    _ name: String, _ type: NSAttributeType, _ values: [Value],
    object: @escaping @Sendable (Value) -> Any = { $0 },
    text: @escaping @Sendable (Value) -> String = { "\($0)" },
    plain: @escaping @Sendable (Any) -> Value?, typed: [TableAccess]
  ) {
    self.name = name
    self.type = type
    self.values = { values.map(object) }
    texts = values.map(text)
    let byName = TableAccess(
      name: "value(forKey:)",
      text: { row, key in row.value(forKey: key).map { plain($0).map(text) ?? "? \($0)" } ?? "nil" },
      set: { row, key, number in row.setValue(number.map { object(values[$0]) }, forKey: key) },
      takesNil: true)
    let primitive = TableAccess(
      name: "primitiveValue(forKey:)",
      text: { row, key in
        row.willAccessValue(forKey: key)
        defer { row.didAccessValue(forKey: key) }
        return row.primitiveValue(forKey: key).map { plain($0).map(text) ?? "? \($0)" } ?? "nil"
      },
      set: { row, key, number in
        row.willChangeValue(forKey: key)
        row.setPrimitiveValue(number.map { object(values[$0]) }, forKey: key)
        row.didChangeValue(forKey: key)
      }, takesNil: true)
    accesses = [byName, primitive] + typed
  }
}

/// An access by a key with a type of its own, in each form that generated classes have.
private func typed<Value>(
  _ type: Value.Type, _ name: String, get: @escaping @Sendable (ManagedKey<Value>, NSManagedObject) -> Value,
  set: @escaping @Sendable (ManagedKey<Value>, NSManagedObject, Value) -> Void,
  _ values: @escaping @Sendable () -> [Value], none: Value? = nil,
  text: @escaping @Sendable (Value) -> String = { "\($0)" }
) -> TableAccess where Value: Sendable {
  TableAccess(
    name: name, text: { row, key in text(get(ManagedKey(key), row)) },
    set: { row, key, number in set(ManagedKey(key), row, number.map { values()[$0] } ?? none!) },
    takesNil: none != nil)
}

private func optionalText<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "nil" }

extension AttributeForm {
  private static let _int16: [Int16] = [7, -300, .max, 0]
  private static let _int32: [Int32] = [7, -70_000, .min, 0]
  private static let _int64: [Int64] = [7, .min, .max, 0]
  private static let _doubles: [Double] = [1.5, -0.1, 1e300, 0]
  private static let _floats: [Float] = [1.5, -0.25, 1e30, 0]
  private static let _strings = ["first", "", "Grüße, 世界 🌍", "it's \"quoted\""]
  private static let _dates = [0, 100.25, -86_400.5, 7e8].map(Date.init(timeIntervalSinceReferenceDate:))
  private static let _bytes = [
    Data([1, 2, 3]), Data(), Data([0, 255, 0]), Data(repeating: 9, count: 5_000),
  ]
  private static let _uuids = (1...4).map { UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)")! }
  private static let _urls = ["https://a.example/x?y=1", "file:///tmp/a%20b", "b", "mailto:c@example.org"].map
  {
    URL(string: $0)!
  }
  private static let _decimals = ["1.5", "-123456789.5678", "0", "1000000000"].map {
    Decimal(string: $0)!
  }
  private static let _sizes: [TableSize] = [.small, .large]

  private static func _number(_ any: Any) -> NSNumber? { any as? NSNumber }
  private static func _text(_ decimal: Decimal) -> String { "\(decimal)" }

  private static let _int16Form = AttributeForm(
    "Int16", .integer16AttributeType, _int16, plain: { _number($0)?.int16Value },
    typed: [
      typed(Int16.self, "Int16", get: { $0[$1] }, set: { $0[$1] = $2 }, { _int16 }),
      typed(
        NSNumber?.self, "NSNumber?", get: { $0[$1] }, set: { $0[$1] = $2 },
        { _int16.map { NSNumber(value: $0) } },
        none: .some(nil), text: optionalText),
    ])

  private static let _int32Form = AttributeForm(
    "Int32", .integer32AttributeType, _int32, plain: { _number($0)?.int32Value },
    typed: [typed(Int32.self, "Int32", get: { $0[$1] }, set: { $0[$1] = $2 }, { _int32 })])

  private static let _int64Form = AttributeForm(
    "Int64", .integer64AttributeType, _int64, plain: { _number($0)?.int64Value },
    typed: [
      typed(Int64.self, "Int64", get: { $0[$1] }, set: { $0[$1] = $2 }, { _int64 }),
      typed(Int.self, "Int", get: { $0[$1] }, set: { $0[$1] = $2 }, { _int64.map { Int($0) } }),
    ])

  private static let _doubleForm = AttributeForm(
    "Double", .doubleAttributeType, _doubles, plain: { _number($0)?.doubleValue },
    typed: [typed(Double.self, "Double", get: { $0[$1] }, set: { $0[$1] = $2 }, { _doubles })])

  private static let _floatForm = AttributeForm(
    "Float", .floatAttributeType, _floats, plain: { _number($0)?.floatValue },
    typed: [typed(Float.self, "Float", get: { $0[$1] }, set: { $0[$1] = $2 }, { _floats })])

  private static let _boolForm = AttributeForm(
    "Bool", .booleanAttributeType, [true, false], plain: { _number($0)?.boolValue },
    typed: [typed(Bool.self, "Bool", get: { $0[$1] }, set: { $0[$1] = $2 }, { [true, false] })])

  private static let _decimalForm = AttributeForm(
    "Decimal", .decimalAttributeType, _decimals, object: { $0 as NSDecimalNumber }, text: _text,
    plain: { ($0 as? NSDecimalNumber)?.decimalValue },
    typed: [
      typed(Decimal.self, "Decimal", get: { $0[$1] }, set: { $0[$1] = $2 }, { _decimals }),
      typed(
        Decimal?.self, "Decimal?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _decimals }, none: .some(nil),
        text: optionalText),
      typed(
        NSDecimalNumber?.self, "NSDecimalNumber?", get: { $0[$1] }, set: { $0[$1] = $2 },
        { _decimals.map { $0 as NSDecimalNumber } },
        none: .some(nil), text: { optionalText($0?.decimalValue) }),
    ])

  private static let _stringForm = AttributeForm(
    "String", .stringAttributeType, _strings, plain: { $0 as? String },
    typed: [
      typed(String.self, "String", get: { $0[$1] }, set: { $0[$1] = $2 }, { _strings }),
      typed(
        String?.self, "String?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _strings }, none: .some(nil),
        text: optionalText
      ),
    ])

  private static let _dateForm = AttributeForm(
    "Date", .dateAttributeType, _dates, plain: { $0 as? Date },
    typed: [
      typed(Date.self, "Date", get: { $0[$1] }, set: { $0[$1] = $2 }, { _dates }),
      typed(
        Date?.self, "Date?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _dates }, none: .some(nil),
        text: optionalText),
    ])

  private static let _dataForm = AttributeForm(
    "Data", .binaryDataAttributeType, _bytes, text: { "\(Array($0))" }, plain: { $0 as? Data },
    typed: [
      typed(Data.self, "Data", get: { $0[$1] }, set: { $0[$1] = $2 }, { _bytes }, text: { "\(Array($0))" }),
      typed(
        Data?.self, "Data?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _bytes }, none: .some(nil),
        text: { optionalText($0.map(Array.init)) }),
    ])

  private static let _uuidForm = AttributeForm(
    "UUID", .UUIDAttributeType, _uuids, plain: { $0 as? UUID },
    typed: [
      typed(UUID.self, "UUID", get: { $0[$1] }, set: { $0[$1] = $2 }, { _uuids }),
      typed(
        UUID?.self, "UUID?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _uuids }, none: .some(nil),
        text: optionalText),
    ])

  private static let _urlForm = AttributeForm(
    "URL", .URIAttributeType, _urls, plain: { $0 as? URL },
    typed: [
      typed(URL.self, "URL", get: { $0[$1] }, set: { $0[$1] = $2 }, { _urls }),
      typed(
        URL?.self, "URL?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _urls }, none: .some(nil),
        text: optionalText),
    ])

  private static let _enumerationForm = AttributeForm(
    "enumeration", .integer32AttributeType, _sizes, object: { NSNumber(value: $0.rawValue) },
    plain: { _number($0).flatMap { TableSize(rawValue: $0.int32Value) } },
    typed: [
      typed(TableSize.self, "TableSize", get: { $0[$1] }, set: { $0[$1] = $2 }, { _sizes }),
      typed(
        TableSize?.self, "TableSize?", get: { $0[$1] }, set: { $0[$1] = $2 }, { _sizes }, none: .some(nil),
        text: optionalText),
    ])

  private static let _transformableForm = AttributeForm(
    "transformable", .transformableAttributeType, ["red", "blue"].map(TableColor.init),
    plain: { $0 as? TableColor },
    typed: [
      typed(
        TableColor?.self, "TableColor?", get: { $0[$1] }, set: { $0[$1] = $2 },
        { ["red", "blue"].map(TableColor.init) },
        none: .some(nil), text: optionalText)
    ])

  static let all = [
    _int16Form, _int32Form, _int64Form, _doubleForm, _floatForm, _boolForm, _decimalForm, _stringForm,
    _dateForm, _dataForm, _uuidForm, _urlForm, _enumerationForm, _transformableForm,
  ]
}

/// Whether an attribute may be nil, and what it is at first.
enum AttributePresence: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case optional, defaulted, required

  var testDescription: String { rawValue }
  var isOptional: Bool { self != .required }

  /// The name of the attribute in an entity `Row`.
  func property(_ form: AttributeForm) -> String { "\(rawValue)_\(form.name)" }
}

/// A model whose entity `Row` has attributes of all forms, each optional, optional with a default, and mandatory.
enum AttributeTable {
  static func model() -> NSManagedObjectModel {
    TableColorTransformer.register
    let row = NSEntityDescription()
    row.name = "Row"
    row.properties = AttributeForm.all.flatMap { form in
      AttributePresence.allCases.map { presence in
        let attribute = NSAttributeDescription()
        attribute.name = presence.property(form)
        attribute.attributeType = form.type
        attribute.isOptional = presence.isOptional
        if form.type == .transformableAttributeType {
          attribute.valueTransformerName = TableColorTransformer.name
        } else if presence != .optional {
          attribute.defaultValue = form.values()[0]
        }
        return attribute
      }
    }
    let model = NSManagedObjectModel()
    model.entities = [row]
    return model
  }

  /// Inserts a row whose mandatory attributes without default have values.
  @discardableResult
  static func insertRow(into context: NSManagedObjectContext) -> NSManagedObject {
    let row = context.insert("Row")
    for form in AttributeForm.all where form.type == .transformableAttributeType {
      row.setValue(form.values()[0], forKey: AttributePresence.required.property(form))
    }
    return row
  }
}
