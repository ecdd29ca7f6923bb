import CoreData

extension TestStore {
  /// Expects a condition; unlike the frameworks' own expectations also on the queue of a context.
  ///
  /// ```swift
  /// background.performAndWait {
  ///   store.expect(background.insertedObjects.isEmpty, "everything is saved")
  /// }
  /// ```
  ///
  /// The comment is made only if the condition does not hold.
  public func expect(
    _ condition: Bool, _ comment: @autoclosure () -> String = "", fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    if condition { return }
    let comment = comment()
    report.record(
      comment.isEmpty ? "Expectation failed" : "Expectation failed: \(comment)",
      at: TestPlace(fileID, filePath, line, column))
  }

  /// Records a failure of the test, from any queue.
  public func fail(
    _ message: String, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    report.record(message, at: TestPlace(fileID, filePath, line, column))
  }

  // MARK: Costs

  /// Expects that a block makes so many fetch and count requests, and so many reads by faults if they are given.
  ///
  /// ```swift
  /// try store.expectFetches(1, faults: 0) {
  ///   let books = try store.viewContext.fetch(Book.withAuthors)
  ///   _ = books.map { $0.author?.name }
  /// }
  /// ```
  ///
  /// All contexts of the container count. See `StoreCost` for what a fault is.
  public func expectFetches<Result>(
    _ fetches: Int, faults: Int? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ body: () throws -> Result
  ) rethrows -> Result {
    let meter = StoreMeter(self)
    let result = try body()
    _check(meter.cost(), fetches, faults, TestPlace(fileID, filePath, line, column))
    return result
  }

  /// Expects the same of a block that waits.
  public func expectFetches<Result>(
    _ fetches: Int, faults: Int? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let meter = StoreMeter(self)
    let result = try await body()
    _check(meter.cost(), fetches, faults, TestPlace(fileID, filePath, line, column))
    return result
  }

  /// Expects that a block fires no fault whose values have to be read from the store.
  ///
  /// ```swift
  /// store.expectNoFaults { _ = shelf.books.map(\.title) }
  /// ```
  public func expectNoFaults<Result>(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line,
    column: UInt = #column, _ body: () throws -> Result
  ) rethrows -> Result {
    let meter = StoreMeter(self)
    let result = try body()
    _check(meter.cost(), nil, 0, TestPlace(fileID, filePath, line, column))
    return result
  }

  private func _check(_ cost: StoreCost, _ fetches: Int?, _ faults: Int?, _ place: TestPlace) {
    guard countsCosts else {
      return report.record(
        "Fetches are counted by the coordinator of a container that the test store makes; this one is of the program's own.",
        at: place)
    }
    var wanted: [String] = []
    if let fetches, cost.fetches != fetches {
      wanted.append("\(fetches) \(fetches == 1 ? "fetch" : "fetches")")
    }
    if let faults, cost.faults != faults {
      wanted.append(faults == 0 ? "no fault" : "\(faults) \(faults == 1 ? "fault" : "faults")")
    }
    guard !wanted.isEmpty else { return }
    report.record("Expected \(wanted.joined(separator: " and ")); the block took \(cost).", at: place)
  }

  #if !canImport(Darwin)
  /// Expects that a block runs so many SQL statements, not counting those that frame others, such as BEGIN.
  ///
  /// Not on Apple's platforms, whose Core Data does not tell of its statements.
  public func expectStatements<Result>(
    _ statements: Int, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ body: () throws -> Result
  ) rethrows -> Result {
    let meter = StoreMeter(self)
    let result = try body()
    let cost = meter.cost()
    if cost.statements != statements {
      report.record(
        "Expected \(statements) SQL \(statements == 1 ? "statement" : "statements"); the block took \(cost).",
        at: TestPlace(fileID, filePath, line, column))
    }
    return result
  }
  #endif
}
