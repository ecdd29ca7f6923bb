import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Decodes the columns of a composite attribute's elements into one cell of a Row.
struct CompositeDecoder: Sendable {
  private indirect enum Part: Sendable {
    case element(CellDecoder)
    case composite([Part])
  }

  let slot: Int
  private let _part: Part

  /// - Parameter elements: Decoders of the leaf elements, in declared order.
  init(slot: Int, _ attribute: AttributeSchema, _ elements: [CellDecoder]) {
    self.slot = slot
    var rest = elements[...]
    _part = Self._part(attribute, &rest)
  }

  private static func _part(_ attribute: AttributeSchema, _ rest: inout ArraySlice<CellDecoder>) -> Part {
    .composite(
      attribute.elements.map { element in
        element.type == .composite ? _part(element, &rest) : .element(rest.removeFirst())
      })
  }

  /// Decodes the value; nil if all elements are nil.
  func value(_ statement: Statement, _ context: RowReader.Context) throws -> Value? {
    try Self._value(_part, statement, context)
  }

  private static func _value(_ part: Part, _ statement: Statement, _ context: RowReader.Context) throws
    -> Value?
  {
    switch part {
    case .element(let decoder): return try decoder.value(statement, context)
    case .composite(let parts):
      let values = try parts.map { try _value($0, statement, context) }
      guard values.contains(where: { $0 != nil }) else { return nil }
      return .composite(CompositeBox(values.map { $0 ?? .null }))
    }
  }
}
