import Foundation

/// A type that a fetch request can return: managed objects, their IDs, dictionaries or numbers.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
