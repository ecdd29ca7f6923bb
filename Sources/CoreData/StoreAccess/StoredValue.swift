import CoreDataModelSchema
import Foundation

/// The identity of a row in a store file: its entity's number in the model, and its primary key.
package struct StoredReference: Sendable, Hashable {
  package let entity: Int
  package let key: Int64

  package init(entity: Int, key: Int64) {
    self.entity = entity
    self.key = key
  }
}

/// A stored value by the type of its property, for tools that read and write files without creating objects.
package indirect enum StoredValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case boolean(Bool)
  case double(Double)
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  case decimal(Decimal)
  case string(String)
  case uri(String)
  case uuid(UUID)
  case data(Data)
  /// The stored bytes of a transformable value, whose class is unknown here.
  case transformable(Data)
  /// Elements of a composite attribute in declared order.
  case composite([StoredValue])
  case reference(StoredReference)
}

extension StoredValue {
  /// Converts a cell of an attribute to a value.
  init(_ value: Value, of attribute: AttributeSchema) {
    switch value {
    case .null, .pending, .toMany: self = .null
    case .int(let number): self = attribute.type.form == .boolean ? .boolean(number != 0) : .integer(number)
    case .double(let number): self = attribute.type.form == .date ? .date(number) : .double(number)
    case .string(let text): self = attribute.type.form == .uri ? .uri(text) : .string(text)
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .uuid(uuid)
    case .decimal(let box): self = .decimal(box.decimal)
    case .transformable(let box): self = box.data.map(StoredValue.transformable) ?? .null
    case .composite(let box):
      self = .composite(
        zip(box.values, attribute.elements).map { StoredValue($0, of: $1) })
    case .reference(let key): self = .reference(StoredReference(key))
    }
  }

  /// Converts the value to a cell; `spaces` are the target store's ID spaces by entity number - 1.
  func value(_ spaces: [ObjectIDSpace]) -> Value {
    switch self {
    case .null: .null
    case .integer(let number): .int(number)
    case .boolean(let flag): .int(flag ? 1 : 0)
    case .double(let number), .date(let number): .double(number)
    case .decimal(let decimal): .decimal(DecimalBox(decimal))
    case .string(let text), .uri(let text): .string(text)
    case .uuid(let uuid): .uuid(uuid)
    case .data(let data): .data(data)
    case .transformable(let data): .transformable(TransformableBox(object: nil, data: data))
    case .composite(let values): .composite(CompositeBox(values.map { $0.value(spaces) }))
    case .reference(let reference):
      .reference(ObjectKey(space: spaces[reference.entity - 1], reference: reference.key))
    }
  }
}

extension StoredReference {
  init(_ key: ObjectKey) { self.init(entity: key.space.layout.entityNumber, key: key.reference) }
}

/// One row of a store file.
package struct StoredRow: Sendable {
  package let reference: StoredReference
  /// By slot; null for to-many relationships, whose members are read separately.
  package let values: [StoredValue]

  package init(reference: StoredReference, values: [StoredValue]) {
    self.reference = reference
    self.values = values
  }

  init(_ object: StoredObject) {
    let layout = object.key.space.layout
    let row = object.row
    self.init(
      reference: StoredReference(object.key),
      values: layout.slots.indices.map { slot in
        guard let row else { return .null }
        if let attribute = layout.slots[slot].attribute { return StoredValue(row[slot], of: attribute) }
        if case .reference(let key) = row[slot] { return .reference(StoredReference(key)) }
        return .null
      })
  }
}
