import CoreDataModelSchema

/// Writes the `contents` of an `.xcdatamodel` in a canonical form: reading it yields an equal schema, and
/// equal schemas yield equal text.
package enum ModelContentsWriter {
  /// Returns the text of the file.
  ///
  /// - Throws: `ModelFileError` for contents that the format does not support: text with control characters,
  ///   validation predicates that are not limits, binary default values.
  package static func write(_ schema: ModelSchema, path: String = "contents") throws -> String {
    try ContentsText(path: path).text(schema.canonical())
  }
}

private struct ContentsText {
  let path: String

  func text(_ schema: ModelSchema) throws -> String {
    var xml = XMLText()
    // Xcode rejects a model without these; the two version numbers are the first that support this whole
    // vocabulary.
    try xml.element(
      "model",
      [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
        "lastSavedToolsVersion": "22222",
        "systemVersion": "23A344", "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
        "userDefinedModelVersionIdentifier": schema.versionIdentifiers.isEmpty
          ? nil : schema.versionIdentifiers.joined(separator: ","),
      ]
    ) { xml in
      for entity in schema.entities { try _entity(entity, in: &xml) }
      for name in schema.composites.keys.sorted() {
        try xml.element("composite", ["name": name]) { xml in
          for element in schema.composites[name]! { try _attribute(element, of: name, in: &xml) }
        }
      }
      for request in schema.fetchRequests { _fetchRequest(request, in: &xml) }
      for configuration in schema.configurations {
        xml.element(
          "configuration",
          ["name": configuration.name, "usedWithCloudKit": _flag(configuration.usedWithCloudKit)]
        ) { xml in
          for member in configuration.entities { xml.element("memberEntity", ["name": member]) }
        }
      }
    }
    guard XMLText.canHold(xml.text) else {
      throw ModelFileError(
        path: path, reason: "a name or value has a control character, which XML can't hold; remove it")
    }
    return xml.text
  }

  private func _entity(_ entity: EntitySchema, in xml: inout XMLText) throws {
    try xml.element(
      "entity",
      [
        "name": entity.name, "representedClassName": entity.className, "isAbstract": _flag(entity.isAbstract),
        "parentEntity": entity.parent, "versionHashModifier": entity.versionHashModifier,
        "elementID": entity.renamingIdentifier, "syncable": _flag(entity.isSyncable),
        "codeGenerationType": entity.codeGeneration == .manual ? nil : entity.codeGeneration.rawValue,
        "coreSpotlightDisplayNameExpression": entity.coreSpotlightDisplayNameExpression,
      ]
    ) { xml in
      for attribute in entity.attributes { try _attribute(attribute, of: entity.name, in: &xml) }
      for relationship in entity.relationships { _relationship(relationship, in: &xml) }
      for property in entity.fetchedProperties {
        let traits = property.traits
        xml.element(
          "fetchedProperty",
          [
            "name": traits.name, "optional": _flag(traits.isOptional), "transient": _flag(traits.isTransient),
            "versionHashModifier": traits.versionHashModifier, "elementID": traits.renamingIdentifier,
          ]
        ) { xml in
          _fetchRequest(property.request, in: &xml)
          _userInfo(traits.userInfo, in: &xml)
        }
      }
      for index in entity.indexes { _index(index, in: &xml) }
      _lists(entity.compoundIndexes, "compoundIndexes", "compoundIndex", "index", in: &xml)
      _lists(
        entity.uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint", in: &xml)
      _userInfo(entity.userInfo, in: &xml)
    }
  }

  private func _attribute(_ attribute: AttributeSchema, of owner: String, in xml: inout XMLText) throws {
    if !attribute.validations.isEmpty {
      throw ModelFileError(
        path: path,
        reason:
          "'\(owner).\(attribute.name)' has validation predicates that are no limits; only code can set such")
    }
    if case .data = attribute.defaultValue {
      throw ModelFileError(
        path: path, reason: "'\(owner).\(attribute.name)' has a binary default value; only code can set one")
    }
    let isDate = attribute.type.form == .date
    func value(_ literal: SchemaLiteral?, date: Bool) -> String? { date == isDate ? literal?.fileText : nil }
    xml.element(
      "attribute",
      [
        "name": attribute.name, "optional": _flag(attribute.isOptional),
        "transient": _flag(attribute.isTransient),
        "attributeType": attribute.type == .undefined ? nil : attribute.type.fileName,
        "composite": attribute.compositeName,
        "minValueString": value(attribute.limits.minimum, date: false),
        "maxValueString": value(attribute.limits.maximum, date: false),
        "minDateTimeInterval": value(attribute.limits.minimum, date: true),
        "maxDateTimeInterval": value(attribute.limits.maximum, date: true),
        "regularExpressionString": attribute.limits.regularExpression,
        "defaultValueString": value(attribute.defaultValue, date: false),
        "defaultDateTimeInterval": value(attribute.defaultValue, date: true),
        "usesScalarValueType": _flag(attribute.usesScalarValueType),
        "valueTransformerName": attribute.valueTransformerName, "customClassName": attribute.customClassName,
        "allowsExternalBinaryDataStorage": _flag(attribute.allowsExternalBinaryDataStorage),
        "preserveAfterDeletion": _flag(attribute.preservesValueInHistoryOnDeletion),
        "allowsCloudEncryption": _flag(attribute.allowsCloudEncryption),
        "indexed": _flag(attribute.isIndexed),
        "spotlightIndexingEnabled": _flag(attribute.isIndexedBySpotlight),
        "derived": _flag(attribute.isDerived),
        "derivationExpression": attribute.derivationExpression,
        "versionHashModifier": attribute.traits.versionHashModifier,
        "elementID": attribute.traits.renamingIdentifier,
      ]
    ) { xml in
      _userInfo(attribute.traits.userInfo, in: &xml)
    }
  }

  private func _relationship(_ relationship: RelationshipSchema, in xml: inout XMLText) {
    let traits = relationship.traits
    let rule =
      switch relationship.deleteRule {
      case .noAction: "No Action"
      case .nullify: "Nullify"
      case .cascade: "Cascade"
      case .deny: "Deny"
      }
    xml.element(
      "relationship",
      [
        "name": traits.name, "optional": _flag(traits.isOptional), "transient": _flag(traits.isTransient),
        "toMany": _flag(relationship.isToMany), "minCount": _count(relationship.minCount),
        "maxCount": relationship.maxCount == Int.max ? nil : _count(relationship.maxCount),
        "deletionRule": rule,
        "ordered": _flag(relationship.isOrdered), "destinationEntity": relationship.destination,
        "inverseName": relationship.inverse,
        "inverseEntity": relationship.inverse == nil ? nil : relationship.destination,
        "versionHashModifier": traits.versionHashModifier, "elementID": traits.renamingIdentifier,
      ]
    ) { xml in
      _userInfo(traits.userInfo, in: &xml)
    }
  }

  private func _fetchRequest(_ request: FetchRequestSchema, in xml: inout XMLText) {
    xml.element(
      "fetchRequest",
      [
        "name": request.name, "entity": request.entity.isEmpty ? nil : request.entity,
        "predicateString": request.predicate,
        "resultType": request.resultType == 0 ? nil : "\(request.resultType)",
        "fetchLimit": _count(request.fetchLimit), "fetchBatchSize": _count(request.fetchBatchSize),
        "includeSubentities": request.includesSubentities ? nil : "NO",
        "includePropertyValues": request.includesPropertyValues ? nil : "NO",
        "includesPendingChanges": request.includesPendingChanges ? nil : "NO",
        "returnObjectsAsFaults": request.returnsObjectsAsFaults ? nil : "NO",
        "returnDistinctResults": _flag(request.returnsDistinctResults),
      ])
  }

  private func _index(_ index: FetchIndexSchema, in xml: inout XMLText) {
    xml.element("fetchIndex", ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate]) {
      xml in
      for element in index.elements {
        xml.element(
          "fetchIndexElement",
          [
            "property": element.property, "expression": element.expression,
            "expressionType": element.expressionType?.fileName, "type": element.isRTree ? "RTree" : "Binary",
            "order": element.isAscending ? "ascending" : "descending",
          ])
      }
    }
  }

  private func _lists(
    _ lists: [[String]], _ outer: String, _ middle: String, _ inner: String, in xml: inout XMLText
  ) {
    guard !lists.isEmpty else { return }
    xml.element(outer, [:]) { xml in
      for list in lists {
        xml.element(middle, [:]) { xml in
          for member in list { xml.element(inner, ["value": member]) }
        }
      }
    }
  }

  private func _userInfo(_ info: [String: String], in xml: inout XMLText) {
    guard !info.isEmpty else { return }
    xml.element("userInfo", [:]) { xml in
      for (key, value) in info.sorted(by: { $0.key < $1.key }) {
        xml.element("entry", ["key": key, "value": value])
      }
    }
  }

  private func _flag(_ flag: Bool) -> String? { flag ? "YES" : nil }

  private func _count(_ count: Int) -> String? { count == 0 ? nil : "\(count)" }
}
