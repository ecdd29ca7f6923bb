import Foundation
import FoundationXML

/// Reads the XML of a model file into a tree.
///
/// The file is untrusted, so constructs that could make a parser run without end are rejected: document type
/// declarations and with them entities, encodings that could hide one, and implausible sizes.
final class XMLTreeReader: NSObject, XMLParserDelegate {
  /// Maximum file size in bytes; the largest known model has less than a hundredth of it.
  static let sizeLimit = 64 << 20
  /// Maximum nesting depth; model files have five levels.
  static let depthLimit = 64
  static let elementLimit = 1_000_000

  private let _path: String
  private var _stack: [XMLNode] = []
  private var _root: XMLNode?
  private var _count = 0
  private var _failure: ModelFileError?

  private init(_ path: String) { _path = path }

  /// Returns the root element of the document.
  ///
  /// - Throws: `ModelFileError` with line and column.
  static func read(_ data: Data, path: String) throws -> XMLNode {
    try _checkBytes(data, path: path)
    let reader = XMLTreeReader(path)
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    let finished = parser.parse()
    if let failure = reader._failure { throw failure }
    guard finished, let root = reader._root else {
      throw ModelFileError(
        path: path, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber),
        reason: reader._malformed(parser.parserError))
    }
    return root
  }

  /// Describes the error where the parser stopped, as far as the open elements indicate it.
  private func _malformed(_ error: (any Error)?) -> String {
    let detail = (error as NSError?).map { " (XML error \($0.code))" } ?? ""
    guard let open = _stack.last else {
      return "not well-formed XML\(detail); a model's 'contents' file was expected"
    }
    return
      "not well-formed XML\(detail): '\(open.name)', which begins in line \(open.line), is not closed here; the file is "
      + "damaged, or ends too early"
  }

  /// Rejects invalid UTF-8: Foundation's parser traps on such names instead of reporting them.
  ///
  /// - Throws: `ModelFileError`.
  static func checkUTF8(_ data: Data, path: String) throws {
    guard String(validating: data, as: UTF8.self) == nil else { return }
    throw ModelFileError(path: path, reason: "has bytes that are no UTF-8 text: the file is damaged")
  }

  private static func _checkBytes(_ data: Data, path: String) throws {
    guard data.count <= sizeLimit else {
      throw ModelFileError(path: path, reason: "\(data.count) bytes is more than any model has; not read")
    }
    guard !data.isEmpty else { throw ModelFileError(path: path, reason: "the file is empty") }
    guard !data.contains(0), !data.starts(with: [0xFE, 0xFF]), !data.starts(with: [0xFF, 0xFE]) else {
      throw ModelFileError(path: path, reason: "not UTF-8 text; save the model with Xcode 4 or later")
    }
    let prolog = String(decoding: data.prefix(256), as: UTF8.self)
    var isUTF8 = true
    if prolog.hasPrefix("<?xml") || prolog.hasPrefix("\u{FEFF}<?xml"), let end = prolog.range(of: "?>"),
      let encoding = prolog[..<end.lowerBound].range(of: "encoding=")
    {
      let name = prolog[encoding.upperBound..<end.lowerBound].dropFirst().prefix { $0 != "\"" && $0 != "'" }
      guard ["UTF-8", "UTF8", "US-ASCII", "ISO-8859-1"].contains(name.uppercased()) else {
        throw ModelFileError(
          path: path, line: 1, reason: "encoding '\(name)' is not supported; save it as UTF-8")
      }
      isUTF8 = name.uppercased() != "ISO-8859-1"
    }
    if isUTF8 { try checkUTF8(data, path: path) }
    for marker in ["<!DOCTYPE", "<!ENTITY"] where data.range(of: Data(marker.utf8)) != nil {
      throw ModelFileError(
        path: path, reason: "has a document type declaration, which no model file has; remove '\(marker)…'")
    }
  }

  private func _fail(_ parser: XMLParser, _ reason: String) {
    if _failure == nil {
      _failure = ModelFileError(
        path: _path, line: parser.lineNumber, column: parser.columnNumber, reason: reason)
    }
    parser.abortParsing()
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard _failure == nil else { return }
    _count += 1
    guard _count <= Self.elementLimit else { return _fail(parser, "more than \(Self.elementLimit) elements") }
    guard _stack.count < Self.depthLimit else { return _fail(parser, "elements nested too deeply") }
    _stack.append(
      XMLNode(name: elementName, attributes: attributes, line: parser.lineNumber, column: parser.columnNumber)
    )
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard _failure == nil, let node = _stack.popLast() else { return }
    if _stack.isEmpty { _root = node } else { _stack[_stack.count - 1].children.append(node) }
  }

  func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
    _fail(parser, "declares the entity '\(name)', which no model file does")
  }
}
