import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreDataExplorer
@testable import CoreDataMicroHTTPDBinding

/// Limits of a request.
@Suite struct BudgetTests {
  private static let _endless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"

  @Test func `an endless statement ends with its time`() throws {
    let connection = try Connection(path: ":memory:")
    let error = #expect(throws: QueryBudget.Exceeded.self) {
      try QueryBudget(seconds: 0.05, client: nil).run { try connection.query(Self._endless) }
    }
    guard case .time = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `an endless statement ends when its client leaves`() throws {
    let connection = try Connection(path: ":memory:")
    var ends: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    let other = ends[1]
    let thread = Thread {
      Thread.sleep(forTimeInterval: 0.05)
      close(other)
    }
    thread.start()
    let client = HTTPClient(socket: ends[0])
    let error = #expect(throws: QueryBudget.Exceeded.self) {
      try QueryBudget(seconds: 3600, client: client).run { try connection.query(Self._endless) }
    }
    guard case .clientLeft = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a client that has sent more still counts as there`() throws {
    var ends: [Int32] = [-1, -1]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    let client = HTTPClient(socket: ends[0])
    #expect(write(ends[1], "more", 4) == 4)
    #expect(!client.hasLeft)
    close(ends[1])
    #expect(client.hasLeft)
  }

  @Test func `cursors survive their address`() {
    for value: Binding in [.null, .int(.min), .double(-0.1), .text("a.b é"), .blob([0, 255, 7])] {
      let cursor = TableCursor(key: -3, value: value)
      #expect(TableCursor(cursor.text) == cursor, "\(value)")
    }
    for text in ["", ".", "x", "1.", "1.z", "1.i", "1.dxyz", "1.b*", "99999999999999999999"] {
      #expect(TableCursor(text) == nil, "\(text)")
    }
  }
}
