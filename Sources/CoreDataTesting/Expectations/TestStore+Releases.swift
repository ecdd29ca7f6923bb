import Foundation

extension TestStore {
  /// Expects that an object, such as a context or a managed object, is released soon after a block that makes it has
  /// returned it: that nothing retains it.
  ///
  /// ```swift
  /// await store.expectReleased {
  ///   let screen = EditScreen(store.container)
  ///   try? screen.save()
  ///   return screen.context
  /// }
  /// ```
  ///
  /// - Parameter limit: How many seconds to wait.
  public func expectReleased(
    within limit: TimeInterval = 2, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> AnyObject
  ) async rethrows {
    var kind = ""
    weak var object: AnyObject?
    func keep(_ made: AnyObject) {
      kind = "\(type(of: made))"
      object = made
    }
    try await keep(body())
    let deadline = Date() + limit
    while object != nil, Date() < deadline { try? await Task.sleep(nanoseconds: 1_000_000) }
    guard object != nil else { return }
    report.record(
      "The \(kind) is still retained after \(limit) s.", at: TestPlace(fileID, filePath, line, column))
  }
}
