import Testing

@testable import SwiftData

/// Numbers of permanent objects.
@Suite struct PointerTableTests {
  private final class Thing {}

  @Test func `an object that is entered stays, so that its address is no other object's`() {
    let table = PointerTable()
    weak var first: Thing?
    do {
      let thing = Thing()
      first = thing
      table.enter(7, for: thing)
    }
    #expect(first != nil)
    #expect(first.flatMap { table.number(of: $0) } == 7)
    #expect(table.number(of: Thing()) == nil)
  }

  @Test func `an object has the number that it was entered with first, however many follow`() {
    let table = PointerTable()
    let things = (0..<1000).map { _ in Thing() }
    for (number, thing) in things.enumerated() { table.enter(number, for: thing) }
    table.enter(5000, for: things[3])
    #expect(things.indices.allSatisfy { table.number(of: things[$0]) == $0 })
  }
}
