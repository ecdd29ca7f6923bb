import Foundation

extension NSManagedObjectModel {
  /// Fills this empty model with copies of `entities`, which come from `models`, and with the models' other
  /// parts.
  ///
  /// References to entities that are not copied are resolved by name: when models merge, one of two equal
  /// entities represents both.
  final func adoptCopy(of models: [NSManagedObjectModel], entities originals: [NSEntityDescription]) {
    let copier = DescriptionCopier(originals)
    entities = copier.copies
    for model in models {
      for configuration in model.configurations {
        let members = model.entities(forConfigurationName: configuration) ?? []
        var known = entities(forConfigurationName: configuration) ?? []
        if !configurations.contains(configuration) { known = [] }
        for member in members {
          if let copy = copier.copy(of: member), !known.contains(where: { $0 === copy }) {
            known.append(copy)
          }
        }
        setEntities(known, forConfigurationName: configuration)
      }
      cloudKitConfigurations.formUnion(model.cloudKitConfigurations)
      model.copyTemplates(to: self)
      if model.isReconstructedFromTables { isReconstructedFromTables = true }
      if let gates = model.evaluationGates { evaluationGates = evaluationGates ?? gates }
      versionIdentifiers.formUnion(model.versionIdentifiers)
      if let theirs = model.localizationDictionary {
        localizationDictionary = (localizationDictionary ?? [:]).merging(theirs) { first, _ in first }
      }
    }
  }
}

/// Copies entities together with the links between them.
private struct DescriptionCopier {
  let copies: [NSEntityDescription]
  private let _byName: [String: NSEntityDescription]

  init(_ originals: [NSEntityDescription]) {
    var copies: [NSEntityDescription] = []
    var byName: [String: NSEntityDescription] = [:]
    var indexes: [[NSFetchIndexDescription]] = []
    for original in originals {
      let copy = original.copy() as! NSEntityDescription
      copies.append(copy)
      indexes.append(copy.indexes)
      byName[original.name ?? ""] = copy
    }
    for (original, copy) in zip(originals, copies) {
      copy.subentities = original.subentities.compactMap { byName[$0.name ?? ""] }
    }
    for copy in copies {
      for case let relationship as NSRelationshipDescription in copy.ownProperties {
        let inverse = relationship.inverseRelationship?.name
        relationship.destinationEntity = relationship.destinationEntity.flatMap { byName[$0.name ?? ""] }
        relationship.inverseRelationship = nil
        if let inverse, let destination = relationship.destinationEntity {
          relationship.inverseRelationship = destination.relationshipsByName[inverse]
        }
      }
    }
    // Connecting the hierarchy dropped the indexes, as any change of it does.
    for (copy, indexes) in zip(copies, indexes) {
      copy.indexes = indexes
      copy.retargetIndexes()
    }
    self.copies = copies
    _byName = byName
  }

  func copy(of original: NSEntityDescription) -> NSEntityDescription? { _byName[original.name ?? ""] }
}
