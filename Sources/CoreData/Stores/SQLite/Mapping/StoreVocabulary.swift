import CoreDataModelSchema

/// Names that every store has, and how names of the model become names in SQL.
enum StoreVocabulary {
  static let primaryKey = "Z_PK"
  static let entity = "Z_ENT"
  static let version = "Z_OPT"
  static let modelCacheTable = "Z_MODELCACHE"

  /// Order of the first member of an ordered relationship, and the step to the next.
  static let firstOrder: Int64 = 2048
  static let orderStep: Int64 = 1024

  /// "Z" and the name in upper case.
  static func name(_ modelName: String) -> String { "Z" + modelName.uppercased() }

  /// A name as it stands in SQL: plain where Core Data writes it plain, quoted where only quotes make it a
  /// name.
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

  /// A name without the quotes that it needs in SQL.
  static func plain(_ name: String) -> String {
    guard name.hasPrefix("\""), name.count > 1 else { return name }
    return String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  /// The order in which an entity's properties get their columns.
  static func precedes(_ left: String, _ right: String) -> Bool {
    let (l, r) = (left.lowercased(), right.lowercased())
    return l == r ? left < right : l < r
  }
}

/// Reserves distinct names: the first reservation of a name is unchanged, later ones end in 1, 2 ... .
struct NameSupply {
  private var _reserved: Set<String> = []

  mutating func reserve(_ name: String) -> String {
    if _reserved.insert(name).inserted { return name }
    var suffix = 1
    while !_reserved.insert(name + String(suffix)).inserted { suffix += 1 }
    return name + String(suffix)
  }
}
