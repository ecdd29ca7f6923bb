/// Type of an attribute's values; raw values are those of `NSAttributeType`.
package enum AttributeType: UInt, Sendable, Hashable, CaseIterable {
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binaryData = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800
  case objectID = 2000
  case composite = 2100
}

/// Effect of a deletion on the destinations of a relationship; raw values are those of `NSDeleteRule`.
package enum DeleteRule: UInt, Sendable, Hashable {
  case noAction = 0
  case nullify = 1
  case cascade = 2
  case deny = 3
}
