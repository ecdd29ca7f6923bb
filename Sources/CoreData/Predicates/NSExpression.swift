import Foundation

open class NSExpression: NSObject {}
