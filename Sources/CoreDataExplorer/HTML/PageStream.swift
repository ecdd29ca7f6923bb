import CoreDataMicroHTTPDBinding
import Foundation

/// A page that is sent while a thread writes it: what takes seconds shows what there is so far.
final class PageStream: @unchecked Sendable {
  // Unchecked: everything that changes is under the condition.

  /// The page is not wanted any more, or has had its time.
  struct Stopped: Error {}

  private let _condition = NSCondition()
  private let _budget: QueryBudget
  private let _place: Places.Place?
  /// Seconds without anything to send.
  private let _patience: Double
  private var _bytes: [UInt8]
  private var _isOver = false

  /// Bytes that wait to be sent before the writer waits, too.
  private static let _most = 256 << 10

  /// - Parameters:
  ///   - frame: The frame of the page, around what is written.
  ///   - place: Held until the page is written.
  ///   - write: Called on a thread of its own. What it throws ends the page with a message.
  static func answer(
    _ frame: PageFrame, _ budget: QueryBudget, _ place: Places.Place? = nil,
    _ write: @escaping @Sendable (PageStream) throws -> Void
  ) -> HTTPResponse {
    answer(between: frame.halves, budget, place, patience: frame.patience, message: frame.message, write)
  }

  /// - Parameters:
  ///   - halves: What the page has before and after that which is written.
  ///   - patience: Seconds without anything to send, after which a sign of life is sent.
  ///   - message: Returns the text for an error.
  static func answer(
    between halves: (begin: String, end: String), _ budget: QueryBudget, _ place: Places.Place? = nil,
    patience: Double, message: @escaping @Sendable (any Error) -> String,
    _ write: @escaping @Sendable (PageStream) throws -> Void
  ) -> HTTPResponse {
    let stream = PageStream(halves.begin, budget, place, patience: patience)
    let thread = Thread {
      do {
        try write(stream)
      } catch is Stopped {
      } catch {
        let text = (error as? QueryBudget.Exceeded)?.description ?? message(error)
        try? stream.write(.tag("p", ["class": "problem", "role": "alert"], HTML(text)))
      }
      stream._end(halves.end)
    }
    thread.name = "explorer page"
    // Values are read that nest deeply.
    thread.stackSize = 8 << 20
    thread.start()
    return HTTPResponse(headers: SecurityHeaders.page, body: .stream { stream._next() })
  }

  private init(_ begin: String, _ budget: QueryBudget, _ place: Places.Place?, patience: Double) {
    (_bytes, _budget, _place, _patience) = (Array(begin.utf8), budget, place, patience)
  }

  /// Adds to the page; waits while much of it has not been sent.
  ///
  /// - Throws: `Stopped`.
  func write(_ piece: HTML) throws(Stopped) {
    _condition.lock()
    defer { _condition.unlock() }
    while _bytes.count > Self._most {
      if _budget.isSpent { throw Stopped() }
      _ = _condition.wait(until: Date(timeIntervalSinceNow: 0.1))
    }
    _bytes += Array(piece.markup.utf8)
    _condition.broadcast()
  }

  private func _end(_ text: String) {
    _condition.lock()
    defer { _condition.unlock() }
    _bytes += Array(text.utf8)
    _isOver = true
    _condition.broadcast()
  }

  private func _next() -> [UInt8]? {
    _condition.lock()
    defer { _condition.unlock() }
    let end = Date(timeIntervalSinceNow: _patience)
    while _bytes.isEmpty, !_isOver {
      // The server closes connections on which nothing happens.
      if !_condition.wait(until: end) { return Array("<!-- still at it -->\n".utf8) }
    }
    guard !_bytes.isEmpty else { return nil }
    let bytes = _bytes
    _bytes = []
    _condition.broadcast()
    return bytes
  }
}
