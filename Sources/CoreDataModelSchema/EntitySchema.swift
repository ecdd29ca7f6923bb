/// A request stored in the model: as a named template, or as the body of a fetched property.
package struct FetchRequestSchema: Sendable, Hashable {
  package var name: String
  package var entity: String
  package var predicate: String?
  package var resultType: UInt = 0
  package var fetchLimit = 0
  package var fetchBatchSize = 0
  package var includesSubentities = true
  package var includesPropertyValues = true
  package var includesPendingChanges = true
  package var returnsObjectsAsFaults = true
  package var returnsDistinctResults = false

  package init(name: String, entity: String, predicate: String? = nil) {
    self.name = name
    self.entity = entity
    self.predicate = predicate
  }
}

/// A property whose value is the result of a stored request.
package struct FetchedPropertySchema: Sendable, Hashable {
  package var traits: PropertyTraits
  package var request: FetchRequestSchema

  package init(traits: PropertyTraits, request: FetchRequestSchema) {
    self.traits = traits
    self.request = request
  }
}

/// One index of an entity.
package struct FetchIndexSchema: Sendable, Hashable {
  package struct Element: Sendable, Hashable {
    /// Property name, or nil when the element is an expression.
    package var property: String?
    package var expression: String?
    /// Kind of value that the expression yields.
    package var expressionType: AttributeType?
    package var isRTree: Bool
    package var isAscending: Bool

    package init(
      property: String?, expression: String? = nil, expressionType: AttributeType? = nil,
      isRTree: Bool = false,
      isAscending: Bool = true
    ) {
      self.property = property
      self.expression = expression
      self.expressionType = expressionType
      self.isRTree = isRTree
      self.isAscending = isAscending
    }
  }

  package var name: String
  package var elements: [Element]
  package var partialIndexPredicate: String?

  package init(name: String, elements: [Element], partialIndexPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
  }
}

/// One entity with its own properties, without inherited ones.
package struct EntitySchema: Sendable, Hashable {
  /// How much of the class the build plugin writes.
  package enum CodeGeneration: String, Sendable, Hashable {
    case manual
    case category
    case `class`
  }

  package var name: String
  /// The class as the model names it; after a "." one of the module whose model it is.
  package var className: String?
  /// The module whose model it is: that of the target that the model was compiled for; nil if that is not known.
  package var module: String?
  package var isAbstract = false
  package var parent: String?
  package var attributes: [AttributeSchema] = []
  package var relationships: [RelationshipSchema] = []
  package var fetchedProperties: [FetchedPropertySchema] = []
  package var indexes: [FetchIndexSchema] = []
  /// Old-style compound indexes, read for compatibility only: each a list of attribute names.
  package var compoundIndexes: [[String]] = []
  package var uniquenessConstraints: [[String]] = []
  package var versionHashModifier: String?
  package var renamingIdentifier: String?
  package var userInfo: [String: String] = [:]
  package var codeGeneration = CodeGeneration.manual
  package var isSyncable = true
  package var coreSpotlightDisplayNameExpression: String?

  package init(name: String, parent: String? = nil) {
    self.name = name
    self.parent = parent
  }

  /// The class with its module, if the module whose model it is is known: "App.Book" for ".Book".
  package var qualifiedClassName: String? {
    className.map { name in name.hasPrefix(".") ? (module ?? "") + name : name }
  }

  /// Sorts the properties of each kind by name, in which order model files list them already.
  package mutating func sortProperties() {
    if !_isSorted(attributes.count, by: { attributes[$0].traits.name }) {
      attributes.sort { $0.name < $1.name }
    }
    if !_isSorted(relationships.count, by: { relationships[$0].traits.name }) {
      relationships.sort { $0.name < $1.name }
    }
    if !_isSorted(fetchedProperties.count, by: { fetchedProperties[$0].traits.name }) {
      fetchedProperties.sort { $0.traits.name < $1.traits.name }
    }
  }

  private func _isSorted(_ count: Int, by name: (Int) -> String) -> Bool {
    guard count > 1 else { return true }
    var last = name(0)
    var position = 1
    while position < count {
      let next = name(position)
      guard last < next else { return false }
      last = next
      position += 1
    }
    return true
  }
}

/// A named subset of a model's entities.
package struct ConfigurationSchema: Sendable, Hashable {
  package var name: String
  package var entities: [String]
  package var usedWithCloudKit = false

  package init(name: String, entities: [String]) {
    self.name = name
    self.entities = entities
  }
}

/// A whole model as plain values.
package struct ModelSchema: Sendable, Hashable {
  package var entities: [EntitySchema]
  package var configurations: [ConfigurationSchema] = []
  package var fetchRequests: [FetchRequestSchema] = []
  /// Composite attribute types by name, each a list of elements in declared order.
  package var composites: [String: [AttributeSchema]] = [:]
  package var versionIdentifiers: [String] = []

  package init(entities: [EntitySchema] = []) {
    self.entities = entities
  }
}
