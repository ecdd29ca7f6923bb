import SwiftData
import TestSupport
import Testing

/// One file, opened by SwiftData here and by Core Data in another process.
struct NeighborTests {
  /// The other process.
  private final class Neighbor {
    private let _process = Process()
    private let _input = Pipe()
    private let _output = Pipe()

    init(_ place: URL) throws {
      _process.executableURL = URL(fileURLWithPath: ChildProcess.built("swiftdata-neighbor"))
      _process.arguments = [place.path]
      _process.standardInput = _input
      _process.standardOutput = _output
      // If the neighbor has ended, its missing answers show it.
      signal(SIGPIPE, SIG_IGN)
      try _process.run()
    }

    deinit {
      try? _input.fileHandleForWriting.close()
      _process.waitUntilExit()
    }

    /// Returns its answer to a line.
    func ask(_ line: String) throws -> String {
      try _input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
      var answer = Data()
      while let byte = try _output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
        answer += byte
      }
      return String(decoding: answer, as: UTF8.self)
    }
  }

  private let _context: ModelContext
  private let _neighbor: Neighbor

  init() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("shelves.store")
    _context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
    _context.author = "swiftdata"
    let shelf = Shelf(code: "A")
    shelf.volumes = [Volume(title: "one")]
    _context.insert(shelf)
    try _context.save()
    _neighbor = try Neighbor(place)
  }

  @Test func `each process sees what the other one saves`() throws {
    #expect(try _neighbor.ask("titles") == "one")
    #expect(try _neighbor.ask("add two") == "added")
    let volumes = try _context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(volumes.map(\.title) == ["one", "two"] && volumes.last?.kind == .novel)
    _context.insert(Volume(title: "three"))
    try _context.save()
    #expect(try _neighbor.ask("titles") == "one three two")
  }

  @Test func `the history tells the processes apart`() throws {
    let before = try _context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try _neighbor.ask("add two") == "added")
    let after = try _context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(after.map(\.author) == ["swiftdata", "neighbor"])
    #expect(after.last?.processIdentifier != before.last?.processIdentifier)
    #expect(after.last?.changes.count == 2)
    #expect(try _neighbor.ask("authors") == "swiftdata neighbor")
  }

  @Test func `a relationship that the other process set shows in a fetch`() throws {
    let shelf = try #require(try _context.fetch(FetchDescriptor<Shelf>()).first)
    #expect(try _neighbor.ask("add two") == "added")
    let found = try _context.fetch(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == "two" }))
    #expect(found.first?.shelf === shelf)
  }
}
