import Testing

@testable import CoreData

@Suite("RankedTree")
struct RankedTreeTests {
  @Test func `A tree built from elements keeps their order and positions`() {
    var handles: [RankedTree<Int>.Handle] = []
    let tree = RankedTree(Array(0..<1000), placed: { handles.append($1) })
    #expect(tree.elements == Array(0..<1000))
    #expect(handles.enumerated().allSatisfy { tree.position(of: $1) == $0 })
    #expect((0..<1000).allSatisfy { tree[$0] == $0 })
  }

  @Test func `Random insertions and removals match an array's`() {
    var random = SystemRandomNumberGenerator()
    var tree = RankedTree<Int>()
    var mirror: [(value: Int, handle: RankedTree<Int>.Handle)] = []
    for step in 0..<5000 {
      if mirror.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
        let place = Int.random(in: 0...mirror.count, using: &random)
        mirror.insert((step, tree.insert(step, at: place)), at: place)
      } else {
        let place = Int.random(in: 0..<mirror.count, using: &random)
        let gone = mirror.remove(at: place)
        #expect(tree.remove(gone.handle) == gone.value)
      }
    }
    #expect(tree.elements == mirror.map(\.value))
    #expect(mirror.enumerated().allSatisfy { tree.position(of: $1.handle) == $0 })
  }

  @Test func `Stays shallow when elements come in order`() {
    var tree = RankedTree<Int>()
    for value in 0..<4096 { tree.insert(value, at: value) }
    #expect(tree.depth <= 30)
    #expect(tree.partitionPoint { $0 < 1234 } == 1234)
  }

  @Test func `A search by rank compares only elements of equal rank`() {
    // Four elements share each rank.
    var tree = RankedTree((0..<400).map { $0 * 2 }, rank: { UInt64($0 / 8) })
    var asked: Set<Int> = []
    for value in 0..<800 {
      let place = tree.partitionPoint(beside: UInt64(value / 8)) { element in
        if element / 8 != value / 8 { asked.insert(element) }
        return element < value
      }
      #expect(place == tree.partitionPoint { $0 < value })
    }
    #expect(asked.isEmpty)
    let handle = tree.insert(1001, at: 400, rank: 200)
    tree.setRank(300, of: handle)
    #expect(tree.partitionPoint(beside: 250) { _ in true } == 400)
    #expect(tree.partitionPoint(beside: 301) { _ in true } == 401)
  }
}
