import CoreDataModelSchema
import Foundation

/// Attributes of a model's source for which Core Data's archives have no field, under their source names:
/// settings of the editor and code generation, and the spelling of names and numbers.
///
/// With them, a compiled model reads back as the model from which it was compiled. Core Data's own reader
/// requests known fields by name and ignores this one.
struct SourceAttributes {
  /// Field of an archived object with these attributes, as a dictionary of strings.
  static let field: StaticString = "CDSourceAttributes"
  /// Field of the archived model with the elements of its composites by name.
  static let compositesField: StaticString = "CDSourceComposites"
  /// Field of the archived model that lists its CloudKit configurations.
  static let cloudField: StaticString = "CDSourceCloudKitConfigurations"

  private(set) var texts: [String: String] = [:]

  init(_ texts: [String: String] = [:]) { self.texts = texts }

  private mutating func _add(_ name: String, _ flag: Bool, unless usual: Bool) {
    if flag != usual { texts[name] = flag ? "YES" : "NO" }
  }

  private func _flag(_ name: String, absent: Bool) -> Bool { texts[name].map { $0 == "YES" } ?? absent }

  /// The identifier that the source repeats although it equals the name, which archives represent by none.
  private mutating func _addRenaming(_ identifier: String?, of name: String) {
    if identifier == name { texts["elementID"] = name }
  }
}

// MARK: Entities

extension SourceAttributes {
  init(_ entity: EntitySchema) {
    if entity.codeGeneration != .manual { texts["codeGenerationType"] = entity.codeGeneration.rawValue }
    let isQualified = entity.qualifiedClassName != entity.className
    if isQualified || entity.className == "NSManagedObject" {
      texts["representedClassName"] = entity.className
    }
    texts["coreSpotlightDisplayNameExpression"] = entity.coreSpotlightDisplayNameExpression
    _add("syncable", entity.isSyncable, unless: true)
    _addRenaming(entity.renamingIdentifier, of: entity.name)
  }

  func apply(to entity: inout EntitySchema) {
    guard !texts.isEmpty else { return }
    entity.codeGeneration = texts["codeGenerationType"].flatMap(EntitySchema.CodeGeneration.init) ?? .manual
    let source = texts["representedClassName"]
    if let source, source.hasPrefix("."), let archived = entity.className, archived.hasSuffix(source) {
      entity.module = String(archived.dropLast(source.count))
      entity.className = source
    }
    entity.className = entity.className ?? source
    entity.coreSpotlightDisplayNameExpression = texts["coreSpotlightDisplayNameExpression"]
    entity.isSyncable = _flag("syncable", absent: true)
    entity.renamingIdentifier = entity.renamingIdentifier ?? texts["elementID"]
  }
}

// MARK: Properties

extension SourceAttributes {
  init(_ attribute: AttributeSchema) {
    self.init(attribute.traits)
    _add("usesScalarValueType", attribute.usesScalarValueType, unless: false)
    _add("allowsCloudEncryption", attribute.allowsCloudEncryption, unless: false)
    if attribute.type != .transformable { texts["customClassName"] = attribute.customClassName }
    texts["composite"] = attribute.compositeName
    if let text = attribute.derivationExpression, DerivationText.canonical(text) != text {
      texts["derivationExpression"] = text
    }
    _addNumber("defaultValueString", attribute.defaultValue)
    _addNumber("minValueString", attribute.limits.minimum)
    _addNumber("maxValueString", attribute.limits.maximum)
  }

  init(_ traits: PropertyTraits) { _addRenaming(traits.renamingIdentifier, of: traits.name) }

  init(_ fetched: FetchedPropertySchema) {
    self.init(fetched.traits)
    // Always archived as transient, regardless of the source.
    _add("transient", fetched.traits.isTransient, unless: true)
  }

  func apply(to attribute: inout AttributeSchema) {
    guard !texts.isEmpty else { return }
    apply(to: &attribute.traits)
    attribute.usesScalarValueType = _flag("usesScalarValueType", absent: false)
    attribute.allowsCloudEncryption = _flag("allowsCloudEncryption", absent: false)
    attribute.customClassName = attribute.customClassName ?? texts["customClassName"]
    if attribute.type == .composite, let name = texts["composite"] { attribute.compositeName = name }
    if let text = texts["derivationExpression"],
      attribute.derivationExpression == DerivationText.canonical(text)
    {
      attribute.derivationExpression = text
    }
    _apply("defaultValueString", to: &attribute.defaultValue)
    _apply("minValueString", to: &attribute.limits.minimum)
    _apply("maxValueString", to: &attribute.limits.maximum)
  }

  func apply(to traits: inout PropertyTraits) {
    traits.renamingIdentifier = traits.renamingIdentifier ?? texts["elementID"]
  }

  func apply(to fetched: inout FetchedPropertySchema) {
    apply(to: &fetched.traits)
    fetched.traits.isTransient = _flag("transient", absent: fetched.traits.isTransient)
  }

  /// A decimal number whose archived value prints differently.
  private mutating func _addNumber(_ name: String, _ literal: SchemaLiteral?) {
    if case .decimal(let text)? = literal, Self._decimal(text)?.description != text { texts[name] = text }
  }

  private func _apply(_ name: String, to literal: inout SchemaLiteral?) {
    // If the two numbers differ, the archived one wins.
    guard let text = texts[name], case .decimal(let archived)? = literal, Self._areEqual(text, archived)
    else { return }
    literal = .decimal(text)
  }

  /// Whether two texts denote the same number. Most are plain digits: converting them would take as long as
  /// reading the rest of an attribute.
  private static func _areEqual(_ one: String, _ other: String) -> Bool {
    if let plain = _plain(one), let otherPlain = _plain(other) { return plain == otherPlain }
    return _decimal(one) == _decimal(other)
  }

  /// Returns the number without insignificant zeros; nil unless it consists of an optional sign and digits,
  /// with at most one point and no more digits than a decimal can represent.
  private static func _plain(_ text: String) -> String? {
    let isNegative = text.hasPrefix("-")
    var digits = text.utf8.dropFirst(isNegative ? 1 : 0)
    guard digits.count <= 38, digits.first.map({ $0 != UInt8(ascii: ".") }) ?? false,
      digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: ".") })
    else { return nil }
    digits = digits.drop { $0 == UInt8(ascii: "0") }
    if let point = digits.firstIndex(of: UInt8(ascii: ".")) {
      guard !digits[digits.index(after: point)...].contains(UInt8(ascii: ".")) else { return nil }
      while digits.last == UInt8(ascii: "0") { digits.removeLast() }
      if digits.last == UInt8(ascii: ".") { digits.removeLast() }
    }
    return digits.isEmpty ? "" : (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
  }

  private static func _decimal(_ text: String) -> Decimal? {
    Decimal(string: text, locale: _posix)
  }

  private static let _posix = Locale(identifier: "en_US_POSIX")
}

// MARK: Fetch requests

extension SourceAttributes {
  /// The fetch settings of a request. Archives encode them in one number with undocumented bits, which is
  /// written and read as that of a request with default settings.
  init(_ request: FetchRequestSchema) {
    _add("includeSubentities", request.includesSubentities, unless: true)
    _add("includePropertyValues", request.includesPropertyValues, unless: true)
    _add("includesPendingChanges", request.includesPendingChanges, unless: true)
    _add("returnObjectsAsFaults", request.returnsObjectsAsFaults, unless: true)
    _add("returnDistinctResults", request.returnsDistinctResults, unless: false)
  }

  func apply(to request: inout FetchRequestSchema) {
    request.includesSubentities = _flag("includeSubentities", absent: true)
    request.includesPropertyValues = _flag("includePropertyValues", absent: true)
    request.includesPendingChanges = _flag("includesPendingChanges", absent: true)
    request.returnsObjectsAsFaults = _flag("returnObjectsAsFaults", absent: true)
    request.returnsDistinctResults = _flag("returnDistinctResults", absent: false)
  }
}
