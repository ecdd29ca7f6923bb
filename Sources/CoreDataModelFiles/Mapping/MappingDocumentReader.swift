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
    let numbered = try (root.links["entitymappings"] ?? []).compactMap { _items[$0] }.map { item in
      (number: Int(item.attributes["mappingnumber"] ?? "") ?? 0, entity: try _entity(item))
    }
    let entities = numbered.sorted { ($0.number, $0.entity.name) < ($1.number, $1.entity.name) }
    var model = MappingModelSchema(entities: entities.map(\.entity))
    if let source = root.attributes["sourcemodelpath"],
      let destination = root.attributes["destinationmodelpath"]
    {
      func name(_ path: String) -> String {
        ((path as NSString).lastPathComponent as NSString).deletingPathExtension
      }
      model.versions = (name(source), name(destination))
    }
    return model
  }

  private func _entity(_ item: Item) throws -> MappingModelSchema.Entity {
    let (source, destination) = (item.attributes["sourcename"], item.attributes["destinationname"])
    let name = source.flatMap { source in destination.map { "\(source)To\($0)" } } ?? destination ?? source
    guard let name else { throw ModelFileError(path: _path, reason: "an entity mapping maps no entity") }
    var entity = MappingModelSchema.Entity(name: item.attributes["name"] ?? name)
    entity.sourceName = source
    entity.destinationName = destination
    entity.policyClassName = item.attributes["migrationpolicyclassname"].flatMap { $0.isEmpty ? nil : $0 }
    entity.sourceExpression = try _expression(item.attributes["sourceexpressiondata"])
    entity.attributes = try _properties(item, "attributemappings")
    entity.relationships = try _properties(item, "relationshipmappings")
    return entity
  }

  private func _properties(_ item: Item, _ link: String) throws -> [MappingModelSchema.Property] {
    try (item.links[link] ?? []).compactMap { _items[$0] }.map { item in
      guard let name = item.attributes["name"] else {
        throw ModelFileError(path: _path, reason: "a property mapping has no name")
      }
      return MappingModelSchema.Property(
        name: name,
        source: try _expression(item.attributes["valueexpressiondata"]).map { .expression($0) } ?? .sameName)
    }.sorted { $0.name < $1.name }
  }

  private func _expression(_ text: String?) throws -> String? {
    guard let text, !text.allSatisfy(\.isWhitespace) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw ModelFileError(path: _path, reason: "an expression is no Base64 text")
    }
    return try CompiledMappingReader.expression(data, path: _path)
  }
}
