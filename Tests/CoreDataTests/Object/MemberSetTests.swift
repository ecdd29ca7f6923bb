import CoreDataToolKit
import Foundation
import Testing

@testable import CoreData

/// The members of a to-many in memory.
@Suite struct MemberSetTests {
  private let _stack: TestStack

  init() throws { _stack = try TestStack(.memory) }

  private func _withTags<Result>(_ count: Int, _ body: ([NSManagedObject]) throws -> Result) throws -> Result {
    try _stack.context.performAndWait {
      try body((0..<count).map { _stack.context.insert("Tag", ["name": "\($0)"]) })
    }
  }

  @Test func `those read come first, in their order, then those added, in theirs`() throws {
    try _withTags(6) { tags in
      var members = MemberSet(Array(tags[0..<3]))
      for index in [5, 3, 4] { _ = members.insert(tags[index]) }
      _ = members.remove(tags[1])
      var list = members.list
      #expect(list == [0, 2, 5, 3, 4].map { tags[$0] })
      members.commit(order: nil)
      _ = members.remove(tags[3])
      _ = members.insert(tags[1])
      list = members.list
      let base = members.base
      #expect(list == [0, 2, 5, 4, 1].map { tags[$0] })
      #expect(base == [0, 2, 5, 3, 4].map { tags[$0] })
    }
  }

  @Test(arguments: 1...20)
  func `random changes, savings, rollbacks and deletions equal plain sets`(_ seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try _withTags(100) { tags in
      let read = Array(tags[0..<Int.random(in: 0...90, using: &random)])
      var members = MemberSet(read)
      var (wanted, base) = (Set(read), Set(read))
      for _ in 0..<400 {
        let tag = try #require(tags.randomElement(using: &random))
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8:
          let isNew = members.insert(tag)
          #expect(isNew == wanted.insert(tag).inserted)
        case 8..<15:
          let wasThere = members.remove(tag)
          #expect(wasThere == (wanted.remove(tag) != nil))
        case 15:
          members.commit(order: nil)
          base = wanted
        case 16:
          members.rollback()
          wanted = base
        case 17:
          let gone = Set(tags.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)))
          let hasDropped = members.drop(gone)
          #expect(hasDropped == !(wanted.isDisjoint(with: gone) && base.isDisjoint(with: gone)))
          wanted.subtract(gone)
          base.subtract(gone)
        case 18:
          let known = members.base
          #expect(Set(known) == base)
        default:
          let set = members.foundationSet as? Set<NSManagedObject>
          #expect(set == wanted)
        }
        #expect(members.count == wanted.count)
        let isMember = members.contains(tag)
        #expect(isMember == wanted.contains(tag))
      }
      let (list, set) = (members.list, members.set)
      #expect(list.count == wanted.count)
      #expect(Set(list) == wanted)
      #expect(set == wanted)
      #expect(Set(members.removed) == base.subtracting(wanted))
    }
  }

  @Test func `a set that the program keeps does not change`() throws {
    try _withTags(3) { tags in
      var members = MemberSet([tags[0]])
      let kept = members.foundationSet
      _ = members.insert(tags[1])
      let next = members.foundationSet
      #expect(kept.count == 1)
      #expect(next.count == 2)
    }
  }

  @Test func `a set that nobody keeps is changed in place`() throws {
    try _withTags(3) { tags in
      var members = MemberSet([tags[0]])
      let first = ObjectIdentifier(members.foundationSet)
      _ = members.insert(tags[1])
      _ = members.remove(tags[0])
      let set = members.foundationSet
      #expect(ObjectIdentifier(set) == first)
      #expect(set as? Set<NSManagedObject> == [tags[1]])
    }
  }

  @Test func `a member of another class is found after it was added`() throws {
    try _withTags(1) { tags in
      let author = _stack.context.insert("Author", ["name": "Ada"])
      var members = MemberSet([author])
      final class Other: NSManagedObject {}
      let (other, none) = (members.member(notOf: Other.self), members.member(notOf: NSManagedObject.self))
      #expect(other === author)
      #expect(none == nil)
    }
  }
}
