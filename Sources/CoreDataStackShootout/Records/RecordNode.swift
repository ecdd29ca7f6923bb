import CoreData
import CoreDataModelSchema
import Foundation

/// An entity with the attributes that some objects of the input give; one for all that give the same.
final class RecordShape: Sendable {
  let entity: PropertyLayout
  let slots: [Int]

  init(_ entity: PropertyLayout, _ slots: [Int]) { (self.entity, self.slots) = (entity, slots) }
}

/// The shapes of an input.
final class RecordShapes {
  private struct Key: Hashable {
    let entity: Int
    let slots: [Int]
  }

  private var _shapes: [Key: RecordShape] = [:]

  func shape(of entity: PropertyLayout, _ slots: [Int]) -> RecordShape {
    let key = Key(entity: entity.entityNumber, slots: slots)
    if let known = _shapes[key] { return known }
    let shape = RecordShape(entity, slots)
    _shapes[key] = shape
    return shape
  }
}

/// An object of the input, with those that it has inside.
struct RecordNode: Sendable {
  /// A value of an attribute, as the store holds it and as the program sets it.
  struct Value: @unchecked Sendable {
    // Unchecked: values of Foundation's types, which do not change.
    let slot: Int
    let name: String
    let stored: StoredValue
    let object: Any?
  }

  /// A key's value, and the entity among whose objects it is looked for.
  struct Key: Sendable {
    let value: Value
    let scope: PropertyLayout
  }

  struct Link: Sendable {
    let slot: Int
    let name: String
    let isToMany: Bool
    let isOrdered: Bool
    let targets: [RecordNode]
  }

  let shape: RecordShape
  /// Nil for an object that is always new.
  let key: Key?
  /// The number of its name in a store's records, by which others lead to it; nil elsewhere.
  var identity: Int?
  /// Whether it stands for an object that is there already.
  var isReference = false
  /// The attributes given, the key included, as the shape lists them.
  let values: [Value]
  let links: [Link]

  var entity: PropertyLayout { shape.entity }

  /// Calls a body with the node and all inside it.
  func forEach(_ body: (RecordNode) -> Void) {
    body(self)
    for link in links { for target in link.targets { target.forEach(body) } }
  }
}

extension StoredValue {
  /// The value as a text that is equal for equal values.
  var identity: String {
    switch self {
    case .null: "-"
    case .integer(let number): "i\(number)"
    case .boolean(let flag): "i\(flag ? 1 : 0)"
    case .double(let number), .date(let number): "d\(number)"
    case .decimal(let decimal): "n\((decimal as NSDecimalNumber).doubleValue)"
    case .string(let text), .uri(let text): "s" + text
    case .uuid(let uuid): "u" + uuid.uuidString
    case .data(let data), .transformable(let data): "b" + data.base64EncodedString()
    case .reference(let reference): "r\(reference.entity) \(reference.key)"
    case .composite: "c"
    }
  }
}
