import CoreDataMicroHTTPDBinding
import CoreDataSQLiteBinding
import Foundation

/// Limits one request: the total time of its statements, and the presence of its client.
struct QueryBudget: Sendable {
  /// The request took too long, or its client has disconnected.
  enum Exceeded: Error, CustomStringConvertible {
    case time(seconds: Double)
    case rows(Int)
    case clientLeft

    var description: String {
      switch self {
      case .time(let seconds):
        "This took longer than the limit of \(Amount.text(seconds)) s, and was stopped. Ask for less: filter by "
          + "an attribute with an index, or sort by one."
      case .rows(let limit): "This has more rows than the limit of \(Amount.text(limit)). Filter the table."
      case .clientLeft: "The client has left."
      }
    }
  }

  let seconds: Double
  private let _end: ContinuousClock.Instant
  private let _client: HTTPClient?

  init(seconds: Double, client: HTTPClient?) {
    self.seconds = seconds
    _end = .now + .seconds(seconds)
    _client = client
  }

  /// Whether no time is left, or the client has disconnected.
  var isSpent: Bool { ContinuousClock.now > _end || _client?.hasLeft == true }

  /// A smaller budget within this one, for optional work.
  func part(seconds: Double) -> QueryBudget {
    QueryBudget(seconds: min(seconds, self.seconds), client: _client)
  }

  /// Runs `body`, and aborts its statements when the budget is exhausted.
  ///
  /// - Throws: Errors of `body`; `Exceeded` if the budget was exhausted.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    // Short statements end before `isSpent` is checked; many of them together must not exceed the budget
    // either.
    try _check()
    do {
      return try QueryCancellation.ending(when: { isSpent }, body)
    } catch {
      try _check()
      throw error
    }
  }

  private func _check() throws(Exceeded) {
    if _client?.hasLeft == true { throw .clientLeft }
    if ContinuousClock.now > _end { throw .time(seconds: seconds) }
  }
}

/// The explorer's limits.
struct ExplorerLimits: Sendable {
  /// What connections may take.
  var http = HTTPServer.Limits()
  /// Seconds that the statements of a page may take.
  var pageSeconds = 10.0
  /// Seconds that a check of the whole file may take.
  var checkSeconds = 60.0
  /// How long a page waits for a check before it shows how far that is, in seconds.
  var checkPatience = 1.0
  /// Rows of a page.
  var rows = 50
  /// Maximum number of rows of a page.
  var mostRows = 200
  /// Rows that are counted; beyond that the page says "more than".
  var countedRows = 10_000
  /// Seconds that counting may take.
  var countSeconds = 0.25
  /// Members of a relationship that an object's page lists.
  var members = 100
  /// Bytes of a text in a table's cell.
  var cellText = 240
  /// Characters of a text on an object's page.
  var objectText = 20_000
  /// Bytes of a blob that are shown in hexadecimal.
  var hexBytes = 512
  /// Bytes of a picture that a table shows.
  var thumbnailBytes = 2 << 20
  /// Bytes of a value that are read to decode it.
  var archiveBytes = 1 << 20
  /// Rows of an export.
  var exportedRows = 5_000_000
  /// Duration of an export in seconds.
  var exportSeconds = 900.0
  /// Seconds that a search of all values, or a comparison, may take.
  var searchSeconds = 120.0
  /// Places that a search shows.
  var searchHits = 500
  /// Searches and comparisons at a time.
  var searches = 2
  /// Seconds after which a page that is still being made sends a sign of life.
  var streamPatience = 5.0
  /// Exports at a time.
  var exports = 2
  /// Pages that follow the store at a time.
  var followers = 48

  init() {}
}
