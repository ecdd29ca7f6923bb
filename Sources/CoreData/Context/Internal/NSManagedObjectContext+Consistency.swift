extension NSManagedObjectContext {
  /// What contradicts itself in the context's structures, for tests: nothing may between two calls. Looks at
  /// every registered object. Called on the context's queue.
  final var inconsistencies: [String] {
    var found = table.inconsistencies + unsaved.inconsistencies
    table.forEach { object in
      if object.managedObjectContext !== self { found.append("\(object._objectID) has another context") }
      object._relations?.forEachToMany { slot, state in
        let name = object._layout.slots[slot].name
        found += state.inconsistencies.map { "\(object._objectID), '\(name)': \($0)" }
      }
    }
    for layer in overlay.layers { found += layer.inconsistencies }
    for store in parent == nil ? persistentStoreCoordinator?.persistentStores ?? [] : [] {
      found += (store.engine as? MemoryStoreEngine)?.inconsistencies ?? []
    }
    return found
  }
}
