import CoreDataModelCodegen

/// Names of entities and properties for names of tables, columns and members.
enum ModelNaming {
  /// `order_items` as `OrderItems`.
  static func entity(_ name: String) -> String {
    let joined = _words(name).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return joined.first.map { $0.isLetter } ?? false ? joined : "Entity" + joined
  }

  /// `created_at` as `createdAt`, `ID` as `id`; a name that managed objects have is given an ending.
  static func property(_ name: String) -> String {
    let words = _words(name)
    guard let first = words.first else { return "value" }
    let start =
      first == first.uppercased() ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
    let joined = start + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    let named = joined.first.map { $0.isLetter } ?? false ? joined : "value" + joined
    return ReservedNames.members.contains(named) ? named + "Value" : named
  }

  /// The name of a to-many to an entity: `OrderItem` as `orderItems`.
  static func members(_ entity: String) -> String {
    let name = property(entity)
    if name.hasSuffix("s") { return name }
    if name.hasSuffix("y"), !["a", "e", "o", "u"].contains(name.dropLast().last.map(String.init) ?? "") {
      return name.dropLast() + "ies"
    }
    return ["x", "z", "ch", "sh"].contains(where: name.hasSuffix) ? name + "es" : name + "s"
  }

  /// A plural without its ending: `authors` as `author`.
  static func singular(_ name: String) -> String {
    for (plural, ending) in [
      ("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""),
    ]
    where name.hasSuffix(plural) && name.count > plural.count + 1 && !name.hasSuffix("ss") {
      return name.dropLast(plural.count) + ending
    }
    return name
  }

  /// The first of `name`, `name2`, `name3` … that is not taken.
  static func unique(_ name: String, among taken: Set<String>) -> String {
    guard taken.contains(name) else { return name }
    var number = 2
    while taken.contains("\(name)\(number)") { number += 1 }
    return "\(name)\(number)"
  }

  private static func _words(_ name: String) -> [String] {
    name.split { !($0.isLetter || $0.isNumber) }.map(String.init)
  }
}
