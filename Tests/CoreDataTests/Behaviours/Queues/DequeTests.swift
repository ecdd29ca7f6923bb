import Testing

@testable import CoreData

@Suite struct DequeTests {
  @Test func `elements come out in the order in which they went in`() {
    var deque = Deque<Int>()
    var taken: [Int] = []
    for number in 0..<1000 {
      deque.append(number)
      if number % 3 != 0, let first = deque.popFirst() { taken.append(first) }
    }
    #expect(deque.count == 1000 - taken.count)
    #expect(taken + Array(deque) == Array(0..<1000))
  }

  @Test func `elements can be put before the oldest`() {
    var deque = Deque([1, 2, 3])
    #expect(deque.popFirst() == 1)
    deque.prepend(contentsOf: [7, 8, 9])
    #expect(Array(deque) == [7, 8, 9, 2, 3])
    #expect(deque.first == 7)
    deque.replaceLast(with: 4)
    #expect(deque.last == 4)
  }

  @Test func `an element that was taken out is released`() {
    final class Value {}
    var deque = Deque<Value>()
    deque.append(Value())
    deque.append(Value())
    let first = WeakReference(deque.first ?? Value())
    #expect(first.object != nil)
    _ = deque.popFirst()
    #expect(first.object == nil)
  }
}
