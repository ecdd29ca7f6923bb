/// Validates inheritance: a model may be untrusted.
enum InheritanceRules {
  /// Maximum number of ancestors of an entity; real models have five.
  static let depthLimit = 200
  /// Maximum number of properties of all entities of a model together, with inherited ones counted in each.
  static let propertyLimit = 2_000_000

  /// - Parameter byName: The same entities by name, all parents among them.
  /// - Throws: `ModelLayoutError` for a cycle of parents, and for a line of parents that is too long.
  static func check(_ entities: [EntitySchema], _ byName: [String: EntitySchema]) throws {
    var depths: [String: Int] = [:]
    for entity in entities where depths[entity.name] == nil {
      var line: [String] = []
      var seen: Set<String> = []
      var next: String? = entity.name
      while let name = next, depths[name] == nil {
        guard seen.insert(name).inserted else { throw _circle(line, from: name) }
        line.append(name)
        next = byName[name]?.parent
      }
      var depth = next.flatMap { depths[$0] } ?? -1
      for name in line.reversed() {
        depth += 1
        guard depth <= depthLimit else {
          throw ModelLayoutError(
            entity: name, reason: "it has more than \(depthLimit) entities above it; inherit less deeply")
        }
        depths[name] = depth
      }
    }
  }

  private static func _circle(_ line: [String], from name: String) -> ModelLayoutError {
    let circle = line.drop { $0 != name }
    // The same message for every entity from which the cycle is entered.
    let first = circle.indices.min { circle[$0] < circle[$1] } ?? circle.startIndex
    let ordered = Array(circle[first...] + circle[..<first])
    let shown = ordered.count > 8 ? Array(ordered.prefix(8)) + ["..."] : ordered
    return ModelLayoutError(
      entity: ordered[0],
      reason:
        "its line of parents is a circle: \((shown + [ordered[0]]).joined(separator: " > ")); remove one of the parents"
    )
  }
}
