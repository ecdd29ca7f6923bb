/// Types of the standard library, Foundation and Core Data that managed properties have, and the modules that
/// declare them on Linux.
enum KnownTypes {
  static let standard: [String: Character] = [
    "String": "S", "Int": "i", "UInt": "u", "Bool": "b", "Double": "d", "Float": "f", "Array": "a",
    "Set": "h",
    "Dictionary": "D", "Character": "J", "Substring": "s",
  ]

  static let nominal: [String: MangledNominal] = {
    var types: [String: MangledNominal] = [:]
    func add(_ module: String, _ kind: MangledNominal.Kind, _ names: String) {
      for name in names.split(separator: " ").map(String.init) {
        types[name] = MangledNominal(kind, DeclarationName(name), module: module)
      }
    }
    add(
      "Swift", .structure,
      "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 ArraySlice ContiguousArray")
    add("Swift", .protocol, "Error Hashable Equatable Codable Sendable Identifiable Comparable")
    add(
      "FoundationEssentials", .structure,
      "Date Data UUID URL Decimal Locale TimeZone Calendar DateComponents DateInterval IndexPath AttributedString"
    )
    add("Foundation", .structure, "IndexSet PersonNameComponents Measurement CharacterSet URLRequest")
    add(
      "Foundation", .class,
      "NSObject NSNumber NSDecimalNumber NSString NSMutableString NSDate NSData NSMutableData NSURL NSUUID NSSet "
        + "NSMutableSet NSCountedSet NSOrderedSet NSMutableOrderedSet NSArray NSMutableArray NSDictionary "
        + "NSMutableDictionary NSAttributedString NSMutableAttributedString NSIndexSet NSIndexPath NSValue NSLocale "
        + "NSTimeZone NSCalendar NSDateComponents NSError NSNull NSRegularExpression NSPredicate NSSortDescriptor "
        + "Unit Dimension Progress Operation")
    add(
      "CoreData", .class,
      "NSManagedObject NSManagedObjectID NSManagedObjectContext NSManagedObjectModel NSEntityDescription "
        + "NSPersistentStore NSFetchedPropertyDescription")
    return types
  }()

  static let aliases: [String: String] = [
    "TimeInterval": "Double", "Float64": "Double", "Float32": "Float", "StringLiteralType": "String",
  ]
}
