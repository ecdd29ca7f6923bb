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
      "Int8 Int16 Int32 Int64 Int128 UInt8 UInt16 UInt32 UInt64 UInt128 Float16 ArraySlice ContiguousArray "
        + "AnyHashable Duration")
    add("Swift", .protocol, "Error Hashable Equatable Codable Sendable Identifiable Comparable")
    add(
      "FoundationEssentials", .structure,
      "Date Data UUID URL Decimal Locale TimeZone Calendar DateComponents DateInterval IndexPath AttributedString "
        + "AttributeContainer URLComponents URLQueryItem CocoaError POSIXError")
    add("FoundationEssentials", .enumeration, "ComparisonResult")
    add(
      "Foundation", .structure,
      "IndexSet PersonNameComponents Measurement CharacterSet Notification URLError AffineTransform CGFloat "
        + "CGPoint CGSize CGRect NSEdgeInsets _NSRange")
    add(
      "Foundation", .class,
      "NSObject NSNumber NSDecimalNumber NSString NSMutableString NSDate NSData NSMutableData NSURL NSUUID NSSet "
        + "NSMutableSet NSCountedSet NSOrderedSet NSMutableOrderedSet NSArray NSMutableArray NSDictionary "
        + "NSMutableDictionary NSAttributedString NSMutableAttributedString NSIndexSet NSMutableIndexSet NSIndexPath "
        + "NSValue NSLocale NSTimeZone NSCalendar NSDateComponents NSDateInterval NSError NSNull "
        + "NSRegularExpression NSTextCheckingResult NSPredicate NSSortDescriptor NSNotification NSURLComponents "
        + "NSURLQueryItem NSPersonNameComponents NSCharacterSet NSMutableCharacterSet NSCoder Progress Operation "
        + "OperationQueue Bundle Formatter DateFormatter NumberFormatter ISO8601DateFormatter ByteCountFormatter "
        + "PersonNameComponentsFormatter DateIntervalFormatter")
    add(
      "Foundation", .class,
      "Unit Dimension UnitConverter UnitConverterLinear UnitAcceleration UnitAngle UnitArea UnitConcentrationMass "
        + "UnitDispersion UnitDuration UnitElectricCharge UnitElectricCurrent UnitElectricPotentialDifference "
        + "UnitElectricResistance UnitEnergy UnitFrequency UnitFuelEfficiency UnitIlluminance "
        + "UnitInformationStorage UnitLength UnitMass UnitPower UnitPressure UnitSpeed UnitTemperature UnitVolume"
    )
    // In a module of its own here, which a file imports beside Foundation.
    add("FoundationNetworking", .structure, "URLRequest")
    add(
      "FoundationNetworking", .class,
      "URLResponse HTTPURLResponse HTTPCookie URLCredential NSURLRequest NSMutableURLRequest")
    add(
      "CoreData", .class,
      "NSManagedObject NSManagedObjectID NSManagedObjectContext NSManagedObjectModel NSEntityDescription "
        + "NSPersistentStore NSFetchedPropertyDescription")
    return types
  }()

  static let aliases: [String: String] = [
    "NSRange": "_NSRange", "TimeInterval": "Double", "Float64": "Double", "Float32": "Float",
    "StringLiteralType": "String",
  ]
}
