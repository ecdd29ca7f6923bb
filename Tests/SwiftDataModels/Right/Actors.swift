// swift-format-ignore-file
import SwiftData

@ModelActor actor Importer {
  func add(_ name: String) { modelContext.insert(Town(name: name)) }
}

@ModelActor public actor PublicImporter {
  private var count = 0
  var last: String?
  public func add() { count += 1 }
}

@ModelActor actor Counter<T: PersistentModel> {
  let limit: Int
  init(limit: Int, container: ModelContainer) {
    self.limit = limit
    modelContainer = container
    modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
  }
}

@ModelActor actor Convenient {
  init(container: ModelContainer) { self.init(modelContainer: container) }
}

actor ByHand: ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor
  init(_ container: ModelContainer) {
    let context = ModelContext(container)
    context.autosaveEnabled = true
    modelExecutor = DefaultSerialModelExecutor(modelContext: context)
    modelContainer = container
  }
}
