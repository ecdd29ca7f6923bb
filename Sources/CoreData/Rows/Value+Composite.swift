import CoreDataModelSchema

// The elements of composite attributes.

extension Value {
  /// The value of an element of a composite attribute; null if the composite or one on the way has no value.
  ///
  /// - Parameters:
  ///   - path: Names of elements, from the composite's own on.
  ///   - attribute: The composite attribute.
  func element(at path: ArraySlice<String>, of attribute: AttributeSchema) -> Value {
    guard let name = path.first else { return self }
    guard case .composite(let box) = self,
      let index = attribute.elements.firstIndex(where: { $0.name == name }), index < box.values.count
    else { return .null }
    return box.values[index].element(at: path.dropFirst(), of: attribute.elements[index])
  }
}

extension AttributeSchema {
  /// Whether a path of names leads to an element of this composite attribute that has no elements itself.
  func hasElement(at path: ArraySlice<String>) -> Bool {
    guard let name = path.first else { return elements.isEmpty }
    return elements.first { $0.name == name }?.hasElement(at: path.dropFirst()) ?? false
  }
}
