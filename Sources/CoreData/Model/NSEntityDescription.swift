import Foundation
open class NSEntityDescription: NSObject {}
