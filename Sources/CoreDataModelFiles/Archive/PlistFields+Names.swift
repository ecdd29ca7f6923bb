/// The fields that each archived entity or property has. Their marks are computed once and not for each object,
/// which a debug build notices.
extension PlistFields.Name {
  /// The reference to an object's class.
  static let type = Self("$class")
  /// The name in an archived class.
  static let className = Self("$classname")
  static let members = Self("NS.objects")
  static let keys = Self("NS.keys")

  static let entity = Self("NSEntity")
  static let entityName = Self("NSEntityName")
  static let propertyName = Self("NSPropertyName")
  static let isOptional = Self("NSIsOptional")
  static let isTransient = Self("NSIsTransient")
  static let versionHashModifier = Self("NSVersionHashModifier")
  static let renamingIdentifier = Self("NSRenamingIdentifier")
  static let userInfo = Self("NSUserInfo")
  static let source = Self(SourceAttributes.field)

  static let attributeType = Self("NSAttributeType")
  static let attributeValueClassName = Self("NSAttributeValueClassName")
  static let defaultValue = Self("NSDefaultValue")
  static let valueTransformerName = Self("NSValueTransformerName")
  static let flags = Self("NSFlagsKey")
  static let isIndexed = Self("NSIsIndexed")
  static let isIndexedBySpotlight = Self("NSIndexedBySpotlight")
  static let validationPredicates = Self("NSValidationPredicates")
  static let validationWarnings = Self("NSValidationWarnings")

  static let destinationEntityName = Self("_NSDestinationEntityName")
  static let inverseRelationshipName = Self("_NSInverseRelationshipName")
  static let minCount = Self("NSMinCount")
  static let maxCount = Self("NSMaxCount")
  static let deleteRule = Self("NSDeleteRule")
  static let isOrdered = Self("NSIsOrdered")
}
