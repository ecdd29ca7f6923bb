import CoreDataModelSchema

extension AttributeSchema {
  /// Class of the values, as archives name it.
  var archivedClassName: String? {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binaryData: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .transformable: customClassName
    case .composite, .objectID, .undefined: nil
    }
  }
}
