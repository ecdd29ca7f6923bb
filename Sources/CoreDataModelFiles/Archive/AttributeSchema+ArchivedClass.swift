import CoreDataModelSchema

extension AttributeSchema {
  /// Class of the values, as archives name it.
  var archivedClassName: String? {
    type == .transformable ? customClassName : type.traits.archivedClass
  }
}
