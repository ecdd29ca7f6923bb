/// `import SwiftData` alone brings Foundation and Observation, as on Apple's platforms: generated code names both.
@_exported import Foundation
@_exported import Observation

// Foundation has these on Apple's platforms and not here.
@_exported import class CoreData.NSSecureUnarchiveFromDataTransformer
@_exported import class CoreData.UndoManager
@_exported import class CoreData.ValueTransformer
