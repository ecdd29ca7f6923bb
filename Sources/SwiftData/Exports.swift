/// `import SwiftData` also imports Foundation and Observation, as on Apple's platforms: generated code refers
/// to both.
@_exported import Foundation
@_exported import Observation

@_exported import enum CoreData.ReadFailurePolicy

// Foundation provides these on Apple's platforms only.
@_exported import class CoreData.NSSecureUnarchiveFromDataTransformer
@_exported import class CoreData.UndoManager
@_exported import class CoreData.ValueTransformer
