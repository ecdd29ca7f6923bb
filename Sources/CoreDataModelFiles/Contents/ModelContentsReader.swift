import CoreDataModelSchema
import Foundation

/// Reads the `contents` of an `.xcdatamodel`.
///
/// Skips unknown elements and attributes, as Core Data's compiler does, and default values and limits that are
/// none of their attribute's type; any other invalid value is an error with its line.
package struct ModelContentsReader {
  private let _path: String
  private var _composites: [String: XMLNode] = [:]
  private var _elementCount = 0
  private var _remarks: [ModelRemark] = []

  /// Parses the contents of the file at `path`, which is used only in messages.
  ///
  /// - Parameters:
  ///   - reviews: Whether to look for unknown elements and attributes.
  ///   - remarks: What was skipped, in the order of the file.
  /// - Throws: `ModelFileError`.
  package static func read(
    _ data: Data, path: String, reviews: Bool = false, remarks: inout [ModelRemark]
  ) throws -> ModelSchema {
    let root = try XMLTreeReader.read(data, path: path)
    guard root.name == "model" else {
      throw ModelFileError(
        path: path, line: root.line, column: root.column,
        reason: "the root element is '\(root.name)', not 'model'; this is no data model")
    }
    var reader = ModelContentsReader(path: path)
    let schema = try reader._model(root)
    remarks += (reader._remarks + (reviews ? ModelVocabulary.remarks(on: root) : []))
      .sorted { ($0.line, $0.message) < ($1.line, $1.message) }
    return schema
  }

  /// Parses the contents of the file at `path`, which is used only in messages.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(_ data: Data, path: String) throws -> ModelSchema {
    var remarks: [ModelRemark] = []
    return try read(data, path: path, remarks: &remarks)
  }

  private init(path: String) { _path = path }

  private mutating func _model(_ root: XMLNode) throws -> ModelSchema {
    for node in root.children(named: "composite") + root.children(named: "compositeAttribute") {
      let name = try _name(node)
      guard _composites.updateValue(node, forKey: name) == nil else {
        throw _error(node, "two composite attributes are named '\(name)'")
      }
    }
    var schema = ModelSchema()
    for name in _composites.keys.sorted() {
      schema.composites[name] = try _elements(name, at: root, within: [])
    }
    for node in root.children {
      switch node.name {
      case "entity": schema.entities.append(try _entity(node))
      case "fetchRequest": schema.fetchRequests.append(try _fetchRequest(node))
      case "configuration":
        var configuration = ConfigurationSchema(
          name: try _name(node), entities: try node.children(named: "memberEntity").map(_name))
        configuration.usedWithCloudKit = try _flag(node, "usedWithCloudKit", absent: false)
        schema.configurations.append(configuration)
      default: break
      }
    }
    if let identifier = root["userDefinedModelVersionIdentifier"] { schema.versionIdentifiers = [identifier] }
    return schema
  }

  // MARK: Entities

  private mutating func _entity(_ node: XMLNode) throws -> EntitySchema {
    var entity = EntitySchema(name: try _name(node), parent: node["parentEntity"])
    entity.className = node["representedClassName"].flatMap { $0.isEmpty ? nil : $0 }
    entity.isAbstract = try _flag(node, "isAbstract", absent: false)
    entity.isSyncable = try _flag(node, "syncable", absent: false)
    entity.versionHashModifier = node["versionHashModifier"]
    entity.renamingIdentifier = node["elementID"]
    entity.coreSpotlightDisplayNameExpression = node["coreSpotlightDisplayNameExpression"]
    entity.userInfo = _userInfo(node)
    if let generation = node["codeGenerationType"] {
      guard let known = EntitySchema.CodeGeneration(rawValue: generation) else {
        throw _error(node, "codeGenerationType '\(generation)' is neither 'class' nor 'category'")
      }
      entity.codeGeneration = known
    }
    for child in node.children {
      switch child.name {
      case "attribute": entity.attributes.append(try _attribute(child, within: []))
      case "relationship": entity.relationships.append(try _relationship(child))
      case "fetchedProperty": entity.fetchedProperties.append(try _fetchedProperty(child))
      case "fetchIndex": entity.indexes.append(try _fetchIndex(child))
      case "compoundIndexes":
        entity.compoundIndexes += child.children(named: "compoundIndex").map { index in
          index.children(named: "index").flatMap { _list($0["value"]) }
        }
      case "uniquenessConstraints":
        entity.uniquenessConstraints += child.children(named: "uniquenessConstraint").map { constraint in
          constraint.children(named: "constraint").flatMap { _list($0["value"]) }
        }
      default: break
      }
    }
    return entity
  }

  private func _traits(_ node: XMLNode) throws -> PropertyTraits {
    PropertyTraits(
      name: try _name(node), isOptional: try _flag(node, "optional", absent: false),
      isTransient: try _flag(node, "transient", absent: false),
      versionHashModifier: node["versionHashModifier"],
      renamingIdentifier: node["elementID"], userInfo: _userInfo(node))
  }

  private mutating func _attribute(_ node: XMLNode, within composites: [String]) throws -> AttributeSchema {
    _elementCount += 1
    // Composites may be nested; without a limit, twenty lines could produce a billion elements.
    guard _elementCount <= 1_000_000 else {
      throw _error(node, "composite attributes hold more than a million elements")
    }
    let type = try node["attributeType"].map { spelling in
      guard let type = AttributeType(fileName: spelling) else {
        throw _error(node, "attribute type '\(spelling)' is not known; \(Self._knownTypes)")
      }
      return type
    }
    var attribute = AttributeSchema(traits: try _traits(node), type: type ?? .undefined)
    attribute.defaultValue = _literal(node, "default", attribute.type, isLength: false)
    let minimum = _literal(node, "min", attribute.type, isLength: true)
    let maximum = _literal(node, "max", attribute.type, isLength: true)
    attribute.limits = AttributeLimits(
      minimum: minimum, maximum: maximum, regularExpression: node["regularExpressionString"])
    attribute.usesScalarValueType = try _flag(node, "usesScalarValueType", absent: false)
    attribute.valueTransformerName = node["valueTransformerName"].flatMap { $0.isEmpty ? nil : $0 }
    attribute.customClassName = node["customClassName"].flatMap { $0.isEmpty ? nil : $0 }
    attribute.allowsExternalBinaryDataStorage = try _flag(
      node, "allowsExternalBinaryDataStorage", absent: false)
    attribute.preservesValueInHistoryOnDeletion = try _flag(node, "preserveAfterDeletion", absent: false)
    attribute.allowsCloudEncryption = try _flag(node, "allowsCloudEncryption", absent: false)
    attribute.isIndexed = try _flag(node, "indexed", absent: false)
    attribute.isIndexedBySpotlight = try _flag(node, "spotlightIndexingEnabled", absent: false)
    if try _flag(node, "derived", absent: node["derivationExpression"] != nil) {
      guard let expression = node["derivationExpression"], !expression.isEmpty else {
        throw _error(node, "derived attribute '\(attribute.name)' has no derivationExpression")
      }
      attribute.derivationExpression = expression
    }
    if attribute.type == .composite {
      guard let name = node["composite"] ?? node["compositeName"] else {
        throw _error(node, "composite attribute '\(attribute.name)' does not say which composite it is")
      }
      attribute.compositeName = name
      attribute.elements = try _elements(name, at: node, within: composites)
    }
    return attribute
  }

  private mutating func _elements(
    _ name: String, at node: XMLNode, within composites: [String]
  ) throws -> [AttributeSchema] {
    guard let composite = _composites[name] else {
      throw _error(node, "composite '\(name)' is not in the model")
    }
    guard !composites.contains(name) else {
      throw _error(
        composite, "composite '\(name)' contains itself: \((composites + [name]).joined(separator: " > "))")
    }
    var elements: [AttributeSchema] = []
    for child in composite.children(named: "attribute") {
      elements.append(try _attribute(child, within: composites + [name]))
    }
    return elements
  }

  private func _relationship(_ node: XMLNode) throws -> RelationshipSchema {
    let traits = try _traits(node)
    guard let destination = node["destinationEntity"], !destination.isEmpty else {
      throw _error(node, "relationship '\(traits.name)' has no destinationEntity")
    }
    let isToMany = try _flag(node, "toMany", absent: false)
    let rule: DeleteRule
    switch node["deletionRule"] {
    case "No Action": rule = .noAction
    case "Nullify", nil: rule = .nullify
    case "Cascade": rule = .cascade
    case "Deny": rule = .deny
    case let other?:
      throw _error(node, "deletion rule '\(other)' is none of No Action, Nullify, Cascade, Deny")
    }
    return RelationshipSchema(
      traits: traits, destination: destination,
      inverse: node["inverseName"].flatMap { $0.isEmpty ? nil : $0 },
      minCount: try _number(node, "minCount") ?? 0,
      maxCount: try _number(node, "maxCount") ?? (isToMany ? 0 : 1),
      deleteRule: rule, isOrdered: try _flag(node, "ordered", absent: false))
  }

  private func _fetchedProperty(_ node: XMLNode) throws -> FetchedPropertySchema {
    guard let request = node.children(named: "fetchRequest").first else {
      throw _error(node, "fetched property '\(try _name(node))' has no fetchRequest")
    }
    return FetchedPropertySchema(traits: try _traits(node), request: try _fetchRequest(request))
  }

  private func _fetchRequest(_ node: XMLNode) throws -> FetchRequestSchema {
    var request = FetchRequestSchema(
      name: try _name(node), entity: node["entity"] ?? "",
      predicate: node["predicateString"].flatMap { $0.isEmpty ? nil : $0 })
    request.resultType = UInt(exactly: try _number(node, "resultType") ?? 0) ?? 0
    request.fetchLimit = try _number(node, "fetchLimit") ?? 0
    request.fetchBatchSize = try _number(node, "fetchBatchSize") ?? 0
    request.includesSubentities = try _flag(node, "includeSubentities", absent: true)
    request.includesPropertyValues = try _flag(node, "includePropertyValues", absent: true)
    request.includesPendingChanges = try _flag(node, "includesPendingChanges", absent: true)
    request.returnsObjectsAsFaults = try _flag(node, "returnObjectsAsFaults", absent: true)
    request.returnsDistinctResults = try _flag(node, "returnDistinctResults", absent: false)
    return request
  }

  private func _fetchIndex(_ node: XMLNode) throws -> FetchIndexSchema {
    let elements = try node.children(named: "fetchIndexElement").map { element in
      let expressionType = try element["expressionType"].map { spelling in
        guard let type = AttributeType(fileName: spelling) else {
          throw _error(element, "expression type '\(spelling)' is not known; \(Self._knownTypes)")
        }
        return type
      }
      guard element["property"] != nil || element["expression"] != nil else {
        throw _error(element, "an index element needs a property or an expression")
      }
      return FetchIndexSchema.Element(
        property: element["property"], expression: element["expression"], expressionType: expressionType,
        isRTree: element["type"] == "RTree", isAscending: element["order"] != "descending")
    }
    return FetchIndexSchema(
      name: try _name(node), elements: elements,
      partialIndexPredicate: node["partialIndexPredicate"].flatMap { $0.isEmpty ? nil : $0 })
  }

  private static let _knownTypes =
    "there are \(AttributeType.allCases.map(\.fileName).sorted().joined(separator: ", "))"

  // MARK: Values

  private func _name(_ node: XMLNode) throws -> String {
    guard let name = node["name"], !name.isEmpty else { throw _error(node, "'\(node.name)' has no name") }
    return name
  }

  private func _list(_ value: String?) -> [String] {
    (value ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }

  private func _userInfo(_ node: XMLNode) -> [String: String] {
    var info: [String: String] = [:]
    for entry in node.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
      if let key = entry["key"] { info[key] = entry["value"] ?? "" }
    }
    return info
  }

  private func _flag(_ node: XMLNode, _ attribute: String, absent: Bool) throws -> Bool {
    switch node[attribute] {
    case nil, "": absent
    case "YES", "1", "true": true
    case "NO", "0", "false": false
    case let other?: throw _error(node, "\(attribute)='\(other)' is neither YES nor NO")
    }
  }

  private func _number(_ node: XMLNode, _ attribute: String) throws -> Int? {
    guard let text = node[attribute], !text.isEmpty else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw _error(node, "\(attribute)='\(text)' is no count")
    }
    return number
  }

  /// Reads a default value (`prefix` "default") or a limit ("min", "max"); a limit of a string is a length.
  private mutating func _literal(
    _ node: XMLNode, _ prefix: String, _ type: AttributeType, isLength: Bool
  ) -> SchemaLiteral? {
    if type.form == .date {
      guard let text = node["\(prefix)DateTimeInterval"] else { return nil }
      guard let seconds = Double(text), seconds.isFinite else {
        _remark(node, "\(prefix)DateTimeInterval='\(text)' is no number of seconds, and is left out")
        return nil
      }
      return .date(seconds)
    }
    guard let text = node["\(prefix)ValueString"] else { return nil }
    if let literal = SchemaLiteral(fileText: text, type: isLength && type == .string ? .integer64 : type) {
      return literal
    }
    // A number field cleared in the editor, or the remains of a former type with literals.
    if text.isEmpty || !type.hasLiterals { return nil }
    _remark(node, "\(prefix)ValueString='\(text)' is no \(type.fileName), and is left out")
    return nil
  }

  private mutating func _remark(_ node: XMLNode, _ message: String) {
    let remark = ModelRemark(.unreadableValue, line: node.line, column: node.column, message: message)
    // The elements of a composite are read for each attribute that is one.
    if !_remarks.contains(remark) { _remarks.append(remark) }
  }

  private func _error(_ node: XMLNode, _ reason: String) -> ModelFileError {
    ModelFileError(path: _path, line: node.line, column: node.column, reason: reason)
  }
}
