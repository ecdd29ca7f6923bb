import CoreDataModelSchema

/// How one cell of a result's row becomes one cell of a Row.
package struct CellDecoder: Sendable {
  package enum Content: Sendable {
    case int
    case bool
    case double
    case decimal
    case string
    case uuid
    case transformable
    case data
    case externalData
    /// A to-one to an entity without subentities.
    case reference(ObjectIDSpace)
    /// A to-one whose destination's entity stands in another column; the space is for rows where it is
    /// missing.
    case polymorphicReference(ObjectIDSpace, entityColumn: Int32)
  }

  package let slot: Int
  package let column: Int32
  package let content: Content
}
