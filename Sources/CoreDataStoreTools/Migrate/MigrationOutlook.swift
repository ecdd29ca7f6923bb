import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// The effects of a migration on a store's objects.
struct MigrationOutlook {
  /// A change, with the number of objects concerned.
  struct Step {
    let change: SchemaChange
    /// Number of objects that lose data or prevent the migration; nil if there are none or they cannot be
    /// counted.
    let affected: Int?
  }

  let steps: [Step]
  /// Numbers of objects by entity of the store, without subentities.
  let counts: [(entity: String, objects: Int)]

  /// - Parameter reader: of the store, with the model that it has now.
  init(_ reader: StoreReader, from old: ModelSchema, to new: ModelSchema) throws {
    let numbers = try reader.counts()
    counts = reader.layout.layouts.filter { !$0.isAbstract }
      .map { ($0.entityName, numbers[$0.entityNumber] ?? 0) }
    let matching = SchemaMatching(from: old, to: new)
    steps = SchemaDiff(from: old, to: new).changes.map { change in
      Step(change: change, affected: Self._affected(change, matching, reader))
    }
  }

  /// Whether a mapping model is needed.
  var isBlocked: Bool { steps.contains { $0.change.verdict == .blocked } }

  /// Steps that objects of this store prevent.
  var failing: [Step] { steps.filter { $0.change.verdict == .fails && ($0.affected ?? 1) > 0 } }

  /// Steps in which objects of this store lose data.
  var losing: [Step] { steps.filter { $0.change.verdict == .loses && ($0.affected ?? 1) > 0 } }

  private static func _affected(
    _ change: SchemaChange, _ matching: SchemaMatching, _ reader: StoreReader
  ) -> Int? {
    guard change.verdict == .loses || change.verdict == .fails else { return nil }
    guard let property = change.property else {
      // Removed entities keep their old names. Subentities are separate changes.
      var query = StoreQuery(entity: change.entity)
      query.includesSubentities = false
      return try? reader.count(query)
    }
    guard let entity = matching.source(of: change.entity) else { return nil }
    let attribute = matching.attributeSources(of: change.entity)[property]?.property.name
    let relationship = matching.relationshipSources(of: change.entity)[property]?.property.name
    let name = attribute ?? relationship ?? property
    let layout = reader.layout.layoutsByName[entity]
    let slot = layout?.slot(named: name).map { layout?.slots[$0] } ?? nil
    var query = StoreQuery(entity: entity)
    switch (change.verdict, slot) {
    // A new attribute: every object lacks it.
    case (.fails, nil): break
    case (.fails, _?): query.predicate = NSPredicate(format: "%K == nil", name)
    case (_, let slot?):
      query.predicate = NSPredicate(format: slot.isToMany ? "%K.@count > 0" : "%K != nil", name)
    case (_, nil): return nil
    }
    return try? reader.count(query)
  }
}

/// A migration in sentences.
struct MigrationReport {
  let outlook: MigrationOutlook
  /// The store's version and the new one, in words.
  let from: String
  let to: String

  var text: String {
    var text = "From the model \(from) to the one \(to).\n"
    let filled = outlook.counts.filter { $0.objects > 0 }
    text +=
      filled.isEmpty
      ? "The store has no objects.\n"
      : "The store has \(filled.map { "\($0.entity): \(counted($0.objects, "object"))" }.joined(separator: ", ")).\n"
    if outlook.steps.isEmpty { return text + "The store has this version of the model already.\n" }
    for step in outlook.steps {
      let change = step.change
      let place = change.subject
      text += "  \(place): \(change.what); \(change.why)."
      if let affected = step.affected { text += " " + Self._affected(change.verdict, affected) }
      text += "\n"
    }
    return text + conclusion + "\n"
  }

  private static func _affected(_ verdict: SchemaChange.Verdict, _ count: Int) -> String {
    let objects = count == 0 ? "No object" : counted(count, "object")
    let isOne = count <= 1
    return verdict == .fails
      ? "\(objects) \(isOne ? "lacks" : "lack") a value."
      : "\(objects) \(isOne ? "is" : "are") concerned."
  }

  /// The conclusion.
  var conclusion: String {
    if outlook.isBlocked {
      let places = outlook.steps.filter { $0.change.verdict == .blocked }.map(\.change)
        .map(\.subject)
      return "Lightweight migration cannot carry this: \(places.joined(separator: ", ")) "
        + "\(places.count == 1 ? "needs" : "need") a mapping model, which a program of yours runs."
    }
    if !outlook.failing.isEmpty {
      return
        "The migration would fail: give the attributes that lack values a default, or make them optional."
    }
    let losses = outlook.losing.count
    return losses == 0
      ? "Lightweight migration carries this, and nothing is lost."
      : "Lightweight migration carries this; \(counted(losses, "change")) \(losses == 1 ? "loses" : "lose") data."
  }

  var json: JSONText {
    .object([
      ("from", .string(from)), ("to", .string(to)), ("isLightweight", .boolean(!outlook.isBlocked)),
      ("conclusion", .string(conclusion)),
      ("objects", .object(outlook.counts.map { ($0.entity, .integer($0.objects)) })),
      (
        "changes",
        .array(
          outlook.steps.map { step in
            .object([
              ("entity", .string(step.change.entity)),
              ("property", step.change.property.map(JSONText.string) ?? .null),
              ("change", .string(step.change.what)), ("verdict", .string(step.change.verdict.rawValue)),
              ("why", .string(step.change.why)),
              ("affectedObjects", step.affected.map { .integer($0) } ?? .null),
            ])
          })
      ),
    ])
  }
}
