import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// A complete model as JSON: everything in a model file, under this format's names.
struct ModelJSON {
  private let _schema: ModelSchema

  init(_ schema: ModelSchema) { _schema = schema.canonical() }

  var json: JSONText {
    let hashes = _schema.entityVersionHashes()
    return .object([
      ("entities", .array(_schema.entities.map { _entity($0, hash: hashes[$0.name]) })),
      (
        "composites",
        .array(
          _schema.composites.sorted { $0.key < $1.key }.map { name, elements in
            .object([("name", .string(name)), ("elements", .array(elements.map(_attribute)))])
          })
      ),
      ("fetchRequests", .array(_schema.fetchRequests.map(_request))),
      (
        "configurations",
        .array(
          _schema.configurations.map {
            .object([
              ("name", .string($0.name)), ("entities", Self._strings($0.entities)),
              ("usedWithCloudKit", .boolean($0.usedWithCloudKit)),
            ])
          })
      ),
      ("versionIdentifiers", Self._strings(_schema.versionIdentifiers)),
      ("versionChecksum", .string(Data(VersionHash.checksum(hashes)).base64EncodedString())),
    ])
  }

  private static func _strings(_ texts: [String]) -> JSONText { .array(texts.map { .string($0) }) }

  private static func _string(_ text: String?) -> JSONText { text.map { .string($0) } ?? .null }

  private static func _info(_ info: [String: String]) -> JSONText {
    .object(info.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
  }

  private static func _literal(_ literal: SchemaLiteral?) -> JSONText {
    switch literal {
    case nil: .null
    case .integer(let number)?: .integer(Int(number))
    case .boolean(let flag)?: .boolean(flag)
    case .string(let text)?, .decimal(let text)?, .uuid(let text)?, .uri(let text)?: .string(text)
    case .double(let number)?, .date(let number)?: .string("\(number)")
    case .data(let bytes)?: .string(Data(bytes).base64EncodedString())
    }
  }

  private func _entity(_ entity: EntitySchema, hash: [UInt8]?) -> JSONText {
    .object([
      ("name", .string(entity.name)), ("class", Self._string(entity.className)),
      ("parent", Self._string(entity.parent)),
      ("isAbstract", .boolean(entity.isAbstract)),
      ("codeGeneration", .string(entity.codeGeneration.rawValue)),
      ("isSyncable", .boolean(entity.isSyncable)),
      ("attributes", .array(entity.attributes.map(_attribute))),
      ("relationships", .array(entity.relationships.map(_relationship))),
      (
        "fetchedProperties",
        .array(
          entity.fetchedProperties.map {
            .object([
              ("name", .string($0.traits.name)), ("isOptional", .boolean($0.traits.isOptional)),
              ("fetchRequest", _request($0.request)), ("userInfo", Self._info($0.traits.userInfo)),
            ])
          })
      ),
      ("indexes", .array(entity.indexes.map(_index))),
      ("compoundIndexes", .array(entity.compoundIndexes.map(Self._strings))),
      ("uniquenessConstraints", .array(entity.uniquenessConstraints.map(Self._strings))),
      ("renamingIdentifier", Self._string(entity.renamingIdentifier)),
      ("versionHashModifier", Self._string(entity.versionHashModifier)),
      ("versionHash", Self._string(hash.map { Data($0).base64EncodedString() })),
      ("spotlightDisplayName", Self._string(entity.coreSpotlightDisplayNameExpression)),
      ("userInfo", Self._info(entity.userInfo)),
    ])
  }

  private func _traits(_ traits: PropertyTraits) -> [(String, JSONText)] {
    [
      ("isOptional", .boolean(traits.isOptional)), ("isTransient", .boolean(traits.isTransient)),
      ("renamingIdentifier", Self._string(traits.renamingIdentifier)),
      ("versionHashModifier", Self._string(traits.versionHashModifier)),
      ("userInfo", Self._info(traits.userInfo)),
    ]
  }

  private func _attribute(_ attribute: AttributeSchema) -> JSONText {
    .object(
      [
        ("name", .string(attribute.name)), ("type", .string(attribute.type.fileName)),
        ("default", Self._literal(attribute.defaultValue)),
        ("minimum", Self._literal(attribute.limits.minimum)),
        ("maximum", Self._literal(attribute.limits.maximum)),
        ("regularExpression", Self._string(attribute.limits.regularExpression)),
        (
          "validations",
          .array(
            attribute.validations.map {
              .object([("predicate", .string($0.predicate)), ("warning", .string($0.warning))])
            })
        ),
        ("usesScalarValueType", .boolean(attribute.usesScalarValueType)),
        ("valueTransformer", Self._string(attribute.valueTransformerName)),
        ("customClass", Self._string(attribute.customClassName)),
        ("allowsExternalStorage", .boolean(attribute.allowsExternalBinaryDataStorage)),
        ("preservesAfterDeletion", .boolean(attribute.preservesValueInHistoryOnDeletion)),
        ("allowsCloudEncryption", .boolean(attribute.allowsCloudEncryption)),
        ("derivation", Self._string(attribute.derivationExpression)),
        ("composite", Self._string(attribute.compositeName)),
        ("elements", .array(attribute.elements.map(_attribute))),
        ("isIndexed", .boolean(attribute.isIndexed)),
        ("isIndexedBySpotlight", .boolean(attribute.isIndexedBySpotlight)),
      ] + _traits(attribute.traits))
  }

  private func _relationship(_ relationship: RelationshipSchema) -> JSONText {
    .object(
      [
        ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
        ("inverse", Self._string(relationship.inverse)), ("isToMany", .boolean(relationship.isToMany)),
        ("isOrdered", .boolean(relationship.isOrdered)), ("minCount", .integer(relationship.minCount)),
        ("maxCount", .integer(relationship.maxCount)), ("deleteRule", .string("\(relationship.deleteRule)")),
      ] + _traits(relationship.traits))
  }

  private func _request(_ request: FetchRequestSchema) -> JSONText {
    .object([
      ("name", .string(request.name)), ("entity", .string(request.entity)),
      ("predicate", Self._string(request.predicate)), ("resultType", .integer(Int(request.resultType))),
      ("fetchLimit", .integer(request.fetchLimit)), ("fetchBatchSize", .integer(request.fetchBatchSize)),
      ("includesSubentities", .boolean(request.includesSubentities)),
      ("includesPropertyValues", .boolean(request.includesPropertyValues)),
      ("includesPendingChanges", .boolean(request.includesPendingChanges)),
      ("returnsObjectsAsFaults", .boolean(request.returnsObjectsAsFaults)),
      ("returnsDistinctResults", .boolean(request.returnsDistinctResults)),
    ])
  }

  private func _index(_ index: FetchIndexSchema) -> JSONText {
    .object([
      ("name", .string(index.name)), ("partialIndexPredicate", Self._string(index.partialIndexPredicate)),
      (
        "elements",
        .array(
          index.elements.map {
            .object([
              ("property", Self._string($0.property)), ("expression", Self._string($0.expression)),
              ("expressionType", Self._string($0.expressionType?.fileName)),
              ("isRTree", .boolean($0.isRTree)),
              ("isAscending", .boolean($0.isAscending)),
            ])
          })
      ),
    ])
  }
}
