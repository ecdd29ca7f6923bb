/// `import CoreData` alone brings Foundation, as on Apple's platforms.
@_exported import Foundation
