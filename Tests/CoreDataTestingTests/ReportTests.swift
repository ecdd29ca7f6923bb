import CoreData
import Foundation
import Testing

@testable import CoreDataTesting

/// Runs a part of a test that is expected to fail.
///
/// - Returns: The messages of the failures.
@MainActor func failures(
  _ settings: TestStoreSettings = .library(), _ body: (TestStore) throws -> Void
) throws -> [String] {
  let messages = Guarded<[String]>([])
  try withKnownIssue {
    try withTestStore(settings, test: "the test") { store in try body(store) }
  } matching: { issue in
    messages.withLock { $0 += issue.comments.map(\.rawValue) }
    return true
  }
  return messages.withLock { $0 }
}

@MainActor @Suite("Failures of expectations") struct FailureReportTests {
  @Test func `An expectation on the queue of a context fails the test`() throws {
    let messages = try failures { store in
      let context = store.newBackgroundContext()
      context.performAndWait { store.expect(context.hasChanges, "there is a change") }
    }
    #expect(messages == ["Expectation failed: there is a change"])
  }

  @Test func `The end of the test waits for the blocks of background contexts`() throws {
    let messages = try failures { store in
      let context = store.newBackgroundContext()
      context.perform {
        Thread.sleep(forTimeInterval: 0.05)
        // Retains the context, as what a block works with does.
        store.expect(context.hasChanges, "late")
      }
    }
    #expect(messages == ["Expectation failed: late"])
  }

  @Test func `What another thread records is kept until the end of the test`()
    async throws
  {
    let report = FailureReport(.swiftTesting, of: "a test")
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        report.record("late", at: TestPlace(#fileID, #filePath, #line, #column))
        continuation.resume()
      }
    }
    withKnownIssue {
      report.end()
    } matching: {
      $0.comments.map(\.rawValue) == ["late"]
    }
  }

  @Test func `An expectation in the test itself is recorded at its line`() throws {
    let line = #line + 2
    try withKnownIssue {
      try withTestStore(.library()) { store in store.expect(false) }
    } matching: {
      $0.sourceLocation?.line == line && $0.comments.map(\.rawValue) == ["Expectation failed"]
    }
  }

  @Test func `An expectation that holds says nothing`() throws {
    try withTestStore(.library()) { store in
      store.expect(true)
      store.newBackgroundContext().performAndWait { store.expect(true) }
    }
  }
}
