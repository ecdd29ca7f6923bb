import Foundation

open class NSManagedObject: NSObject {}
