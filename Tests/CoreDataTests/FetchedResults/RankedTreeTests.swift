import Testing

@testable import CoreData

@Suite("RankedTree")
struct RankedTreeTests {
  @Test("Built from elements, it has them in order and each at its position")
  func builds() {
    var handles: [RankedTree<Int>.Handle] = []
    let tree = RankedTree(Array(0..<1000)) { handles.append($1) }
    #expect(tree.elements == Array(0..<1000))
    #expect(handles.enumerated().allSatisfy { tree.position(of: $1) == $0 })
    #expect((0..<1000).allSatisfy { tree[$0] == $0 })
  }

  @Test("After any mix of insertions and removals it equals an array treated alike")
  func followsAnArray() {
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

  @Test("Stays shallow when elements come in order")
  func staysShallow() {
    var tree = RankedTree<Int>()
    for value in 0..<4096 { tree.insert(value, at: value) }
    #expect(tree.depth <= 30)
    #expect(tree.partitionPoint { $0 < 1234 } == 1234)
  }
}
