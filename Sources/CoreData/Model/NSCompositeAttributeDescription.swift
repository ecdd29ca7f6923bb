import Foundation

/// Describes an attribute made of named elements; its value is a dictionary of them.
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
  /// Name that the model file gives this composite type.
  final var compositeName: String?

  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  /// The elements: attributes, or composites again.
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
