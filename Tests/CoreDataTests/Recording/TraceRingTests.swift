import Foundation
import Testing

@testable import CoreData

/// What a recording keeps of events before it writes them.
@Suite struct TraceRingTests {
  private func _event(_ number: Int) -> TraceEvent {
    TraceEvent(begin: UInt64(number), nanoseconds: 1, context: 1, kind: .merge(objects: number))
  }

  @Test func `a thread that is too fast loses events, which are counted`() {
    let ring = TraceRing(thread: 3)
    for number in 0..<TraceRing.capacity + 5 { ring.add(_event(number)) }
    let taken = ring.take()
    #expect(taken.events.count == TraceRing.capacity && taken.dropped == 5 && taken.thread == 3)
    #expect(taken.events.last?.begin == UInt64(TraceRing.capacity - 1), "the first ones are kept")
    ring.add(_event(1))
    let next = ring.take()
    #expect(next.events.count == 1 && next.dropped == 0)
  }

  @Test func `a ring goes to another thread when its own has ended and its events are written`() {
    let ring = TraceRing(thread: 1)
    #expect(!ring.reuse(for: 2))
    ring.add(_event(1))
    ring.free()
    #expect(!ring.reuse(for: 2), "there is something to write")
    _ = ring.take()
    #expect(ring.reuse(for: 2) && !ring.reuse(for: 3))
    #expect(ring.take().thread == 2)
  }

  @Test func `each thread has a ring of its own`() {
    let rings = TraceRings()
    nonisolated(unsafe) var other: TraceRing?
    let (done, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      other = rings.current
      done.signal()
      ends.wait()
    }.start()
    done.wait()
    defer { ends.signal() }
    let own = rings.current
    #expect(own === rings.current && own !== other)
    #expect(rings.all.count == 2)
  }

  @Test func `requests that differ in values only are one, and are told without them`() throws {
    let stack = try TestStack(.sqlite)
    let context = stack.context
    try context.performAndWait {
      let recorder = try #require(
        TraceRecorder(TraceRecorder.Request(path: "/dev/null")))
      func number(_ format: String, _ value: Any) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: format, argumentArray: [value])
        let model = try #require(context.frozen)
        return recorder.shape(of: request, try request.resolvedEntity(in: model).layout)
      }
      let first = try number("name == %@", "secret")
      #expect(try number("name == %@", "other") == first)
      #expect(try number("name != %@", "secret") != first)
      #expect(try number("name IN %@", ["a", "b", "c"]) == number("name IN %@", ["d", "e", "f", "g"]))
      let texts = recorder.names.shapes(after: 0).map(\.predicate)
      #expect(texts.contains("name == ?") && !texts.contains { $0?.contains("secret") == true }, "\(texts)")
    }
  }
}
