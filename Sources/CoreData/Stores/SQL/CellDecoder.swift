import CoreDataModelSchema

/// Converts one cell of a result row to a cell of a Row.
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
    /// A to-one whose destination entity is in another column; the space is the fallback for rows without it.
    case polymorphicReference(ObjectIDSpace, entityColumn: Int32)
  }

  package let slot: Int
  package let column: Int32
  package let content: Content
}
