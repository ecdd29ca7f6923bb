import CoreDataToolKit
import Testing

@testable import CoreData

/// The keys of deleted rows, which a batch may have millions of.
struct KeyBitmapTests {
  @Test func `a key is there once it is inserted, and new only once`() {
    var keys = KeyBitmap()
    for key in [0, 63, 64, -1, -64, -65, .max, .min] as [Int64] {
      #expect(!keys.contains(key))
      let (isNew, isThere, isNewAgain) = (keys.insert(key), keys.contains(key), keys.insert(key))
      #expect(isNew && isThere && !isNewAgain)
    }
    for key in [1, 62, 65, -2, -63, -66, .max - 1, .min + 1] as [Int64] { #expect(!keys.contains(key)) }
  }

  @Test func `any keys are those of a plain set`() {
    var random = SeededRandom(seed: 41)
    var (keys, plain) = (KeyBitmap(), Set<Int64>())
    for _ in 0..<5_000 {
      let key = Int64(random.below(3_000)) - 1_500
      let (isNew, wasNew) = (keys.insert(key), plain.insert(key).inserted)
      #expect(isNew == wasNew)
    }
    for key in Int64(-1_600)...1_600 { #expect(keys.contains(key) == plain.contains(key)) }
  }
}
