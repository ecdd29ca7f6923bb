import CoreDataPredicateLanguage
import Foundation
import FoundationXML

/// Reads Xcode's editable mapping models: a document of objects with attributes and references by identifier.
///
/// The document type declaration of these files is ignored; one that declares anything is rejected.
final class MappingDocumentReader: NSObject, XMLParserDelegate {
  /// One object of the document.
  private struct Item {
    let type: String
    var attributes: [String: String] = [:]
    var links: [String: [String]] = [:]
  }

  private let _path: String
  private var _items: [String: Item] = [:]
  private var _current: (id: String, item: Item)?
  private var _attribute: (name: String, text: String)?
  private var _hasRoot = false
  private var _remarks: [String] = []

  private init(_ path: String) { _path = path }

  /// Reads the document in `data`; `path` is used only in messages.
  ///
  /// - Throws: `ModelFileError`.
  static func read(_ data: Data, path: String) throws -> MappingModelSchema {
    for marker in ["<!ENTITY", "<!ELEMENT", "<!ATTLIST"] where data.range(of: Data(marker.utf8)) != nil {
      throw ModelFileError(
        path: path, reason: "declares things that no mapping model does; remove '\(marker)…'")
    }
    try XMLTreeReader.checkUTF8(data, path: path)
    let reader = MappingDocumentReader(path)
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    guard parser.parse() else {
      throw ModelFileError(
        path: path, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber),
        reason: "not well-formed XML; a mapping model (xcmapping.xml) was expected")
    }
    guard reader._hasRoot else {
      throw ModelFileError(
        path: path,
        reason: "no mapping model: its outermost element is not 'database'; give a .cdm or .xcmappingmodel")
    }
    return try reader._model()
  }

  // MARK: Document

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    switch elementName {
    case "database": _hasRoot = true
    case "object":
      _current = attributes["id"].map { ($0, Item(type: (attributes["type"] ?? "").uppercased())) }
    case "attribute": _attribute = attributes["name"].map { ($0, "") }
    case "relationship":
      guard let name = attributes["name"] else { return }
      _current?.item.links[name] = (attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { _attribute?.text += string }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    switch elementName {
    case "attribute":
      if let attribute = _attribute { _current?.item.attributes[attribute.name] = attribute.text }
      _attribute = nil
    case "object":
      if let current = _current { _items[current.id] = current.item }
      _current = nil
    default: break
    }
  }

  // MARK: Mapping

  private func _model() throws -> MappingModelSchema {
    guard let root = _items.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
      throw ModelFileError(path: _path, reason: "the document has no mapping model in it")
    }
    _remark(
      root, "the mapping model",
      ["sourcemodelpath", "sourcemodeldata", "destinationmodelpath", "destinationmodeldata"],
      ["entitymappings"])
    let numbered = try (root.links["entitymappings"] ?? []).compactMap { _items[$0] }.map { item in
      (number: Int(item.attributes["mappingnumber"] ?? "") ?? 0, entity: try _entity(item))
    }
    let entities = numbered.sorted { ($0.number, $0.entity.name) < ($1.number, $1.entity.name) }
    var model = MappingModelSchema(entities: entities.map(\.entity))
    try _checkMappingNames(model)
    if root.attributes["sourcemodelpath"] != nil, root.attributes["destinationmodelpath"] != nil {
      var (source, destination) = (_version(root, "source"), _version(root, "destination"))
      for entity in model.entities {
        if let name = entity.sourceName { source.properties[name, default: []].formUnion([]) }
        guard let name = entity.destinationName else { continue }
        destination.properties[name, default: []].formUnion(
          (entity.attributes + entity.relationships).map(\.name))
      }
      model.versions = (source, destination)
    }
    let known = [
      "XDDEVMAPPINGMODEL", "XDDEVENTITYMAPPING", "XDDEVATTRIBUTEMAPPING", "XDDEVRELATIONSHIPMAPPING",
    ]
    for type in Set(_items.values.map(\.type)).subtracting(known) {
      _remarks.append("objects of type '\(type)' are not known here")
    }
    model.remarks = _remarks.sorted()
    return model
  }

  private func _version(_ root: Item, _ end: String) -> MappingModelSchema.Version {
    let path = root.attributes["\(end)modelpath"] ?? ""
    var version = MappingModelSchema.Version(
      name: ((path as NSString).lastPathComponent as NSString).deletingPathExtension)
    if let text = root.attributes["\(end)modeldata"],
      let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
      let properties = EditorModelArchive.properties(in: data)
    {
      version.properties = properties
      version.isWhole = true
    }
    return version
  }

  /// A property that is mapped by a mapping which is not there would have no value, in silence.
  private func _checkMappingNames(_ model: MappingModelSchema) throws {
    let names = Set(model.entities.map(\.name))
    for entity in model.entities {
      for property in entity.attributes + entity.relationships {
        guard let mapping = property.mappingName, !names.contains(mapping) else { continue }
        throw ModelFileError(
          path: _path,
          reason:
            "'\(entity.name)' takes '\(property.name)' from the mapping '\(mapping)', which is not there; there are "
            + names.sorted().joined(separator: ", "))
      }
    }
  }

  /// Values of `mappingtypename`, in the order of their numbers.
  private static let _types = ["Undefined", "Custom", "Add", "Remove", "Copy", "Transform"]

  private func _entity(_ item: Item) throws -> MappingModelSchema.Entity {
    let (source, destination) = (item.attributes["sourcename"], item.attributes["destinationname"])
    let name = source.flatMap { source in destination.map { "\(source)To\($0)" } } ?? destination ?? source
    guard let name else { throw ModelFileError(path: _path, reason: "an entity mapping maps no entity") }
    var entity = MappingModelSchema.Entity(name: item.attributes["name"] ?? name)
    let place = "the entity mapping '\(entity.name)'"
    entity.sourceName = source
    entity.destinationName = destination
    entity.policyClassName = item.attributes["migrationpolicyclassname"].flatMap { $0.isEmpty ? nil : $0 }
    if let type = item.attributes["mappingtypename"], !type.isEmpty {
      entity.type = Self._types.firstIndex(of: type) ?? 0
      if !Self._types.contains(type) {
        _remarks.append("\(place) is of the type '\(type)', which is not known here")
      }
    }
    entity.sourceExpression = try _sourceExpression(item, source, place)
    entity.attributes = try _properties(item, "attributemappings", place)
    entity.relationships = try _properties(item, "relationshipmappings", place)
    entity.userInfo = _userInfo(item, place)
    _remark(
      item, place,
      [
        "name", "sourcename", "destinationname", "mappingnumber", "mappingtypename",
        "migrationpolicyclassname",
        "sourceexpressiondata", "sourcefilterpredicatestring", "userinfodata", "autogenerateexpression",
      ], ["attributemappings", "relationshipmappings", "mappingmodel"])
    return entity
  }

  /// Returns the expression for the source objects: as given, or a fetch with the filter predicate.
  private func _sourceExpression(_ item: Item, _ source: String?, _ place: String) throws -> String? {
    let expression = try _expression(item.attributes["sourceexpressiondata"])
    guard let filter = item.attributes["sourcefilterpredicatestring"], !filter.allSatisfy(\.isWhitespace)
    else {
      return expression
    }
    do {
      _ = try PredicateTemplate.cached(filter).predicate([])
    } catch {
      throw ModelFileError(
        path: _path, reason: "the filter predicate '\(filter)' of \(place) cannot be read: \(error)")
    }
    if expression != nil {
      _remarks.append("\(place) has a source expression, beside which its filter predicate has no effect")
      return expression
    }
    return source.map { PredicatePrinter.text(of: MappingExpressionTree.objects(of: $0, where: filter)) }
  }

  private func _properties(
    _ item: Item, _ link: String, _ place: String
  ) throws -> [MappingModelSchema.Property] {
    try (item.links[link] ?? []).compactMap { _items[$0] }.map { item in
      guard let name = item.attributes["name"] else {
        throw ModelFileError(path: _path, reason: "a property mapping has no name")
      }
      let place = "'\(name)' of \(place)"
      var property = MappingModelSchema.Property(
        name: name, source: try _source(item, isRelationship: item.type == "XDDEVRELATIONSHIPMAPPING", place))
      property.userInfo = _userInfo(item, place)
      property.mappingName = _text(item, "sourcemappingname")
      _remark(
        item, place,
        [
          "name", "autogenerateexpression", "valueexpressiondata", "sourcekeypath", "sourcemappingname",
          "userinfodata",
        ], ["entitymapping"])
      return property
    }.sorted { $0.name < $1.name }
  }

  /// Returns the source of a property's value: an expression, or the editor's key path and mapping name.
  private func _source(
    _ item: Item, isRelationship: Bool, _ place: String
  ) throws -> MappingModelSchema.Source {
    if let expression = try _expression(item.attributes["valueexpressiondata"]) {
      return .expression(expression)
    }
    let mapping = _text(item, "sourcemappingname")
    guard let text = _text(item, "sourcekeypath") ?? mapping.flatMap({ _ in item.attributes["name"] }) else {
      return .sameName
    }
    var names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if names.first == "$source" { names.removeFirst() }
    guard names.allSatisfy(Self._isKey) else {
      throw ModelFileError(
        path: _path,
        reason: "the key path '\(text)' of \(place) is none of the source object: write '$source.author.name'"
      )
    }
    let tree =
      isRelationship || mapping != nil
      ? MappingExpressionTree.members(at: names, mappedBy: mapping) : MappingExpressionTree.value(at: names)
    return .expression(PredicatePrinter.text(of: tree))
  }

  private static func _isKey(_ name: String) -> Bool {
    !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "@" }
  }

  /// Returns a text of an object, unless it is blank.
  private func _text(_ item: Item, _ name: String) -> String? {
    let text = item.attributes[name]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    return text.isEmpty ? nil : text
  }

  private func _userInfo(_ item: Item, _ place: String) -> [String: String] {
    guard let text = _text(item, "userinfodata") else { return [:] }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
      let archive = try? KeyedArchive(data), let root = archive.root,
      let entries = archive.dictionary(.uid(root.index))
    else {
      _remarks.append("the user info of \(place) cannot be read")
      return [:]
    }
    var info: [String: String] = [:]
    for (key, value) in entries {
      info[key] = archive.string(value)
      if info[key] == nil { _remarks.append("'\(key)' in the user info of \(place) is no text") }
    }
    return info
  }

  /// Notes what an object has beside the known attributes and relationships.
  private func _remark(_ item: Item, _ place: String, _ attributes: Set<String>, _ links: Set<String>) {
    for (name, text) in item.attributes where !attributes.contains(name) && !text.allSatisfy(\.isWhitespace) {
      _remarks.append("\(place) has '\(name)', which is not known here")
    }
    for (name, targets) in item.links where !links.contains(name) && !targets.isEmpty {
      _remarks.append("\(place) has '\(name)', which is not known here")
    }
  }

  private func _expression(_ text: String?) throws -> String? {
    guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw ModelFileError(path: _path, reason: "an expression is no Base64 text")
    }
    return try CompiledMappingReader.expression(data, path: _path)
  }
}
