extension NSManagedObjectContext {
  /// Returns the SQL that a fetch of this request would run, one statement per database, without running it.
  ///
  /// Ignores unsaved changes, which a fetch merges in memory. Not in Core Data.
  ///
  /// ```swift
  /// let statement = try context.sqlStatements(for: request, countingRows: true).first
  /// print(statement?.rowCount ?? 0, statement?.bindings ?? [])
  /// ```
  ///
  /// - Parameter countingRows: Whether the rows are counted, by a statement of its own.
  /// - Throws: A Cocoa error: as `fetch(_:)`, also when a part of the request has no translation.
  public final func sqlStatements<ResultType>(
    for request: NSFetchRequest<ResultType>, countingRows: Bool = false
  ) throws -> [SQLStatement] {
    let plan = try FetchPass(self).plan(for: request)
    guard let coordinator = persistentStoreCoordinator, let model = coordinator.frozen else { return [] }
    var dictionaries: DictionaryPlan?
    if request.resultType == .dictionaryResultType {
      dictionaries = try DictionaryColumns(request, plan, model).plan
    }
    return try coordinator.engines(for: request.affectedStores).compactMap { engine in
      guard let engine = engine as? any SQLExplaining else { return nil }
      return try StoreErrors.translating {
        if let dictionaries { return try engine.statement(for: dictionaries, countingRows: countingRows) }
        var plan = plan
        plan.content =
          request.resultType == .managedObjectIDResultType
          ? .identity : try request.contentOfObjects(plan.layout)
        let purpose: QueryShape.Purpose = request.resultType == .countResultType ? .count : .objects
        return try engine.statement(for: plan, purpose, countingRows: countingRows)
      }
    }
  }
}
