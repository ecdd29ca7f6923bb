import CoreDataModelSchema

extension AttributeSchema {
  /// Name of the values' class in archives.
  var archivedClassName: String? {
    type == .transformable ? customClassName : type.traits.archivedClass
  }
}
