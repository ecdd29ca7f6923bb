import Synchronization
import Testing

@testable import CoreData

/// The observers of commits within the process.
@Suite struct CommitBoardTests {
  private final class Count: Sendable {
    let first = Atomic<Int>(0), second = Atomic<Int>(0)
  }

  @Test func `an observation ends without ending others of the file`() {
    let board = CommitBoard(), count = Count()
    let first = board.follow("a") { count.first.wrappingAdd(1, ordering: .relaxed) }
    let second = board.follow("a") { count.second.wrappingAdd(1, ordering: .relaxed) }
    board.didCommit("a")
    board.end(second, of: "a")
    board.didCommit("a")
    board.didCommit("b")
    #expect(count.first.load(ordering: .relaxed) == 2)
    #expect(count.second.load(ordering: .relaxed) == 1)
    board.end(first, of: "a")
    board.didCommit("a")
    #expect(count.first.load(ordering: .relaxed) == 2)
  }
}
