import CoreDataModelSchema

/// Names used in every store, and the mapping of model names to SQL names.
enum StoreVocabulary {
  static let primaryKey = "Z_PK"
  static let entity = "Z_ENT"
  static let version = "Z_OPT"
  static let modelCacheTable = "Z_MODELCACHE"
  /// The second column of the join table of a relationship that is its own inverse.
  static let reflexive = "REFLEXIVE"

  /// Number of the first member of an ordered relationship, and the step to the next.
  static let firstOrder: Int64 = 2048
  static let orderStep: Int64 = 1024

  /// Returns "Z" and the name in upper case.
  static func name(_ modelName: String) -> String { "Z" + modelName.uppercased() }

  /// Returns a name in SQL form: plain where Core Data writes it plain, quoted where quotes are required.
  static func quoted(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...255:
        true
      default: false
      }
    }
    let startsPlain = name.utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    if isPlain && startsPlain { return name }
    return "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// Returns a name without its SQL quotes.
  static func plain(_ name: String) -> String {
    guard name.hasPrefix("\""), name.count > 1 else { return name }
    return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  /// Whether a property's columns precede another's.
  static func precedes(_ left: String, _ right: String) -> Bool {
    let (l, r) = (left.lowercased(), right.lowercased())
    return l == r ? left < right : l < r
  }
}

/// Generates distinct names: the first use of a name is unchanged, later ones end in 1, 2 ... .
struct NameSupply {
  private var _reserved: Set<String> = []

  mutating func reserve(_ name: String) -> String {
    if _reserved.insert(name).inserted { return name }
    var suffix = 1
    while !_reserved.insert(name + String(suffix)).inserted { suffix += 1 }
    return name + String(suffix)
  }
}
