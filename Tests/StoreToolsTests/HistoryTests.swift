import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store history`.
@Suite struct HistoryTests {
  private let shelf: Shelf

  init() throws { shelf = try Shelf() }

  @Test func `A store without history says so`() throws {
    try shelf.makeStore()
    let answer = shelf.run("history", "@store.sqlite")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains("'store.sqlite' has no history"))
  }

  @Test(.enabled(if: Corpus.isPresent)) func `A history is listed with what changed`() throws {
    let store = "corpus/stores/ileapp/ios17-NoteStore.sqlite"
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(
        atPath: "\(Corpus.root)/\(store)\(suffix)", toPath: shelf.path("notes\(suffix)"))
    }
    let all = try shelf.run("history", "@notes", "--json").json() as? [[String: Any]]
    #expect(all?.count == 166)
    #expect(all?.reduce(0) { $0 + (($1["changes"] as? [Any])?.count ?? 0) } == 528)
    let some = shelf.run("history", "@notes", "--entity", "ICNote", "--since", "2024-07-28T14:25:00Z")
    #expect(some.output.contains("update ICNote/p"))
    #expect(!some.output.contains("ICCloudState"))
  }

  @Test func `A date that is none is told`() throws {
    try shelf.makeStore()
    #expect(shelf.run("history", "@store.sqlite", "--since", "yesterday").code == .usage)
  }
}
