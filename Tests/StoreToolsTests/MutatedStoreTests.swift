import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// Stores with bytes that no program wrote: every reading command ends with an answer or an error in words, and writes nothing
/// into the store.
@Suite struct MutatedStoreTests {
  private static let _commands: [[String]] = [
    ["info", "@store"], ["fetch", "@store", "Book"], ["show", "@store", "Book/p1"],
    ["search", "@store", "e"],
    ["timeline", "@store", "--format", "csv"], ["diff", "@whole", "@store"],
    ["flatten", "@store", "--output", "@flat", "--search", "--force"], ["names", "@store"],
  ]

  /// How a command may end: with an answer, or with what is wrong with the file.
  private static let _codes: Set<ExitCode> = [.success, .badInput, .noInput, .usage, .temporaryFailure]

  /// Runs all commands on mutants of a store.
  private static func _check(_ shelf: Shelf, _ count: Int, seed: UInt64) throws {
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: shelf.path("whole"))))
    // The same bytes in every run.
    var dice = SeededRandom(seed: seed)
    for number in 0..<count {
      var bytes = whole
      for _ in 0..<[1, 3, 10, 60][number % 4] {
        // The first hundred bytes say that it is a database at all.
        let place = 100 + dice.below(bytes.count - 108)
        for offset in 0..<(dice.chance(50) ? 1 : 8) { bytes[place + offset] = UInt8(dice.below(256)) }
      }
      if number % 10 == 9 { bytes.removeLast(bytes.count / 3) }
      let file = URL(fileURLWithPath: shelf.path("store"))
      try Data(bytes).write(to: file)
      for command in _commands {
        let answer = shelf.run(command)
        #expect(_codes.contains(answer.code), "mutant \(number) of \(seed): \(command): \(answer.error)")
        #expect(answer.code == .success || !answer.error.isEmpty, "mutant \(number) of \(seed): \(command)")
      }
      #expect(try [UInt8](Data(contentsOf: file)) == bytes, "mutant \(number) of \(seed) was written to")
    }
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `stores of this package`(seed: UInt64) throws {
    let shelf = try Shelf()
    try shelf.makeStore("whole")
    try Self._check(shelf, 20, seed: seed * 7919)
  }

  @Test(.enabled(if: Corpus.isPresent), arguments: Corpus.stores.prefix(6))
  func `stores of Apple's framework`(store: String) throws {
    let source = "\(Corpus.root)/\(store)"
    let size = (try FileManager.default.attributesOfItem(atPath: source)[.size] as? NSNumber)?.intValue ?? 0
    guard size < 3_000_000 else { return }
    let shelf = try Shelf()
    try FileManager.default.copyItem(atPath: source, toPath: shelf.path("whole"))
    try Self._check(shelf, 8, seed: UInt64(size))
  }
}
