import Foundation
import TestSupport
import Testing

@testable import CoreDataLoadTrials

@Suite("Ages of what is shown")
struct CommitLogTests {
  @Test func `The oldest save that is not shown has the age`() throws {
    let log = try CommitLog()
    for time in [100, 200, 300] as [UInt64] { log.commit(at: time) }
    #expect(log.last == 3)
    #expect(log.age(after: 0, at: 1000) == 900)
    #expect(log.age(after: 2, at: 1000) == 700)
  }

  @Test func `There is no age if all saves are shown`() throws {
    let log = try CommitLog()
    log.commit(at: 100)
    #expect(log.age(after: 1, at: 1000) == 0)
    // Main may show a save before its saver has recorded it.
    #expect(log.age(after: 2, at: 1000) == 0)
  }

  @Test func `Of very many saves the oldest that is known counts`() throws {
    let log = try CommitLog()
    for number in 1...100_000 { log.commit(at: UInt64(number)) }
    #expect(log.age(after: 0, at: 100_000) == 65_535)
    #expect(log.age(after: 99_999, at: 100_001) == 1)
  }

  @Test func `A log in a file is shared`() throws {
    let file = try TemporaryPlace.makeDirectory().appendingPathComponent("commits")
    let (one, other) = (try CommitLog(file), try CommitLog(file))
    one.commit(at: 100)
    #expect(other.last == 1)
    #expect(other.age(after: 0, at: 150) == 50)
  }

  @Test func `A track shows the newest save that it was told of`() throws {
    let track = Track(try CommitLog())
    for time in [100, 200, 300] as [UInt64] { track.commits.commit(at: time) }
    track.show(2)
    track.show(1)
    #expect(track.age(at: 1000) == 700)
  }
}
