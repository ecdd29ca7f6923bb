import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Searches all values of a store, also inside of bytes, with memory use independent of the store's size.
package struct StoreSearch {
  package struct Hit {
    package let object: StoredReference
    package let property: String
    /// The way to the text inside of bytes; empty for a plain value.
    package let path: [String]
    package let text: String
  }

  private let _reader: StoreReader
  private let _sought: TextSought
  private let _text: ValueText

  package init(_ reader: StoreReader, _ sought: TextSought, _ zone: TimeZoneText) {
    (_reader, _sought) = (reader, sought)
    _text = ValueText(reader.layout, zone)
  }

  private struct End: Error {}

  /// - Parameters:
  ///   - entities: The entities whose objects are searched.
  ///   - found: Called with each hit; the search ends when it returns false.
  ///   - incomplete: Called with values whose content exceeds a limit.
  package func run(
    _ entities: [PropertyLayout], progress: (Double, String) -> Void,
    incomplete: (StoredReference, String) -> Void,
    found: (Hit) throws -> Bool
  ) throws {
    let counts = try _reader.counts()
    let total = Double(max(1, entities.reduce(0) { $0 + (counts[$1.entityNumber] ?? 0) }))
    var done = 0
    do {
      for entity in entities {
        let attributes = entity.exchangedSlots.compactMap { slot in
          entity.slots[slot].attribute.map { (slot, $0) }
        }
        try _reader.forEachRow(of: entity.entityNumber) { row in
          done += 1
          if done % 64 == 0 { progress(Double(done) / total, entity.entityName) }
          for (slot, attribute) in attributes {
            try _search(row.values[slot], attribute, attribute.name, row.reference, incomplete, found)
          }
        }
      }
    } catch is End {}
  }

  private func _search(
    _ value: StoredValue, _ attribute: AttributeSchema, _ name: String, _ object: StoredReference,
    _ incomplete: (StoredReference, String) -> Void, _ found: (Hit) throws -> Bool
  ) throws {
    func look(_ text: String, _ path: [String] = []) throws {
      guard _sought.isIn(text) else { return }
      if try !found(Hit(object: object, property: name, path: path, text: text)) { throw End() }
    }
    switch value {
    case .null, .boolean, .reference: break
    case .string(let text), .uri(let text): try look(text)
    case .uuid(let uuid): try look(uuid.uuidString)
    case .integer, .double, .decimal, .date:
      if _sought.mayBeNumber, let text = _text.plain(value, of: attribute) { try look(text) }
    case .composite(let values):
      for (element, part) in zip(attribute.elements, values) {
        try _search(part, element, "\(name).\(element.name)", object, incomplete, found)
      }
    case .data(let data), .transformable(let data):
      var content = ContentTexts()
      _ = try content.visit(Array(data)) { path, text in
        try look(text, path)
        return true
      }
      if content.isIncomplete { incomplete(object, name) }
    }
  }
}
