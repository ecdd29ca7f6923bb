/// The elements of model files with their attributes and members, as far as Xcode writes them.
enum ModelVocabulary {
  private struct _Element {
    let attributes: [String]
    let members: [String]
  }

  /// Returns a remark for each element and attribute that is not in the vocabulary, in the order of the file.
  static func remarks(on root: XMLNode) -> [ModelRemark] {
    var remarks: [ModelRemark] = []
    _review(root, &remarks)
    return remarks
  }

  private static func _review(_ node: XMLNode, _ remarks: inout [ModelRemark]) {
    guard let element = _elements[node.name] else { return }
    for name in node.attributes.keys.sorted() where !element.attributes.contains(name) {
      // A name that is there as well is no misspelling of itself.
      let candidates = element.attributes.filter { node[$0] == nil }
      remarks.append(
        _remark(
          node, "'\(name)' is no attribute of '\(node.name)'", _nearest(to: name, among: candidates)))
    }
    for child in node.children {
      guard element.members.contains(child.name) else {
        remarks.append(
          _remark(
            child, "'\(child.name)' is no element of '\(node.name)'",
            _nearest(to: child.name, among: element.members)))
        continue
      }
      _review(child, &remarks)
    }
  }

  private static func _remark(_ node: XMLNode, _ message: String, _ nearest: String?) -> ModelRemark {
    ModelRemark(
      nearest == nil ? .unknown : .misspelt, line: node.line, column: node.column,
      message: message + (nearest.map { "; did you mean '\($0)'?" } ?? ", and is left out"))
  }

  /// The known name of which another one is a misspelling: one letter more, less, different or exchanged with
  /// its neighbour; two in a long name.
  private static func _nearest(to name: String, among candidates: [String]) -> String? {
    let limit = name.count < 10 ? 1 : 2
    return candidates.map { ($0, _distance(Array(name.lowercased()), Array($0.lowercased()))) }
      .filter { $0.1 <= limit }.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }

  private static func _distance(_ left: [Character], _ right: [Character]) -> Int {
    var before: [Int] = []
    var row = Array(0...right.count)
    for (i, x) in left.enumerated() {
      var next = [i + 1]
      for (j, y) in right.enumerated() {
        var edits = min(next[j] + 1, row[j + 1] + 1, row[j] + (x == y ? 0 : 1))
        if i > 0, j > 0, x == right[j - 1], left[i - 1] == y { edits = min(edits, before[j - 1] + 1) }
        next.append(edits)
      }
      (before, row) = (row, next)
    }
    return row[right.count]
  }

  private static let _property = [
    "name", "optional", "transient", "versionHashModifier", "elementID", "syncable",
  ]

  private static let _elements: [String: _Element] = [
    "model": _Element(
      attributes: [
        "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "sourceLanguage", "userDefinedModelVersionIdentifier", "macOSVersion", "iOSVersion",
        "tvOSVersion", "watchOSVersion", "visionOSVersion",
        "usedWithCloudKit",
        "usedWithSwiftData",
      ],
      members: [
        "entity", "composite", "compositeAttribute", "fetchRequest", "configuration", "elements", "userInfo",
      ]),
    "entity": _Element(
      attributes: [
        "name", "representedClassName", "isAbstract", "parentEntity", "versionHashModifier", "elementID",
        "syncable", "codeGenerationType", "coreSpotlightDisplayNameExpression",
      ],
      members: [
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes",
        "uniquenessConstraints", "userInfo",
      ]),
    "attribute": _Element(
      attributes: _property + [
        "attributeType", "composite", "compositeName", "minValueString", "maxValueString",
        "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString", "defaultValueString",
        "defaultDateTimeInterval", "usesScalarValueType", "valueTransformerName", "customClassName",
        "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "allowsCloudEncryption", "indexed",
        "spotlightIndexingEnabled", "storedInTruthFile", "derived", "derivationExpression", "ephemeral",
      ], members: ["userInfo"]),
    "relationship": _Element(
      attributes: _property + [
        "toMany", "minCount", "maxCount", "deletionRule", "ordered", "destinationEntity", "inverseName",
        "inverseEntity", "indexed", "spotlightIndexingEnabled", "storedInTruthFile",
      ], members: ["userInfo"]),
    "fetchedProperty": _Element(
      attributes: _property + ["indexed", "spotlightIndexingEnabled"], members: ["fetchRequest", "userInfo"]),
    "fetchRequest": _Element(
      attributes: [
        "name", "entity", "predicateString", "resultType", "fetchLimit", "fetchBatchSize",
        "includeSubentities", "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults",
        "returnDistinctResults",
      ], members: ["userInfo"]),
    "fetchIndex": _Element(
      attributes: ["name", "partialIndexPredicate"], members: ["fetchIndexElement", "userInfo"]),
    "fetchIndexElement": _Element(
      attributes: ["property", "expression", "expressionType", "type", "order"], members: []),
    "compoundIndexes": _Element(attributes: [], members: ["compoundIndex"]),
    "compoundIndex": _Element(attributes: [], members: ["index"]),
    "index": _Element(attributes: ["value"], members: []),
    "uniquenessConstraints": _Element(attributes: [], members: ["uniquenessConstraint"]),
    "uniquenessConstraint": _Element(attributes: [], members: ["constraint"]),
    "constraint": _Element(attributes: ["value"], members: []),
    "configuration": _Element(
      attributes: ["name", "usedWithCloudKit", "usedWithSwiftData"], members: ["memberEntity", "userInfo"]),
    "memberEntity": _Element(attributes: ["name"], members: []),
    "composite": _Element(attributes: ["name", "elementID"], members: ["attribute", "userInfo"]),
    "compositeAttribute": _Element(attributes: ["name", "elementID"], members: ["attribute", "userInfo"]),
    "userInfo": _Element(attributes: [], members: ["entry"]),
    "entry": _Element(attributes: ["key", "value"], members: []),
    "elements": _Element(attributes: [], members: ["element"]),
    "element": _Element(attributes: ["name", "positionX", "positionY", "width", "height"], members: []),
  ]
}
