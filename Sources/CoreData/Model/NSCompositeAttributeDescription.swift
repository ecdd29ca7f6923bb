import Foundation

/// Describes an attribute of named elements, whose value is a dictionary.
///
/// ```swift
/// let (street, city) = (NSAttributeDescription(), NSAttributeDescription())
/// (street.name, street.type) = ("street", .string)
/// (city.name, city.type) = ("city", .string)
/// let address = NSCompositeAttributeDescription()
/// address.name = "address"
/// address.elements = [street, city]
/// author.setValue(["street": "Monk's House", "city": "Rodmell"], forKey: "address")
/// ```
open class NSCompositeAttributeDescription: NSAttributeDescription {
  private var _elements: [NSAttributeDescription] = []
  /// Name of this composite type in the model file.
  final var compositeName: String?

  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  /// The elements: attributes or nested composites.
  open var elements: [NSAttributeDescription] {
    get { _elements }
    set {
      willMutate("elements")
      for element in _elements where element.composite === self { element.composite = nil }
      _elements = newValue
      for element in newValue { element.composite = self }
    }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSCompositeAttributeDescription()
    copyAttributeState(to: copy)
    copy.elements = _elements.map { $0.copy() as! NSAttributeDescription }
    copy.compositeName = compositeName
    return copy
  }
}
