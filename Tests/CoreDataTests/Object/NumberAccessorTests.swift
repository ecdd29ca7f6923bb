import CoreData
import Foundation
import Testing

/// Accessors that declare a number as another numeric type than the model does.
@Suite struct NumberAccessorTests {
  /// Attributes of every numeric type that hold 0 and 1.
  private static let keys = ["pages", "copies", "price", "weight", "cost", "inPrint"]

  private func withNovel(_ body: (NSManagedObject, NSManagedObjectContext) throws -> Void) throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait { try body(stack.context.insert("Novel"), stack.context) }
  }

  /// Writes ones through a key for each numeric attribute and reads them back after a save.
  private func check<Value: Equatable>(
    _ one: Value, _ read: (ManagedKey<Value>, NSManagedObject) -> Value,
    _ write: (ManagedKey<Value>, NSManagedObject) -> Void
  ) throws {
    try withNovel { book, context in
      for key in Self.keys { write(ManagedKey<Value>(key), book) }
      try context.save()
      context.refresh(book, mergeChanges: false)
      for key in Self.keys {
        #expect(read(ManagedKey<Value>(key), book) == one, "\(key) as \(Value.self)")
        #expect((book.value(forKey: key) as? NSNumber)?.intValue == 1, "\(key) as \(Value.self)")
      }
    }
  }

  @Test func `every numeric declaration takes every numeric attribute`() throws {
    let one = NSDecimalNumber(value: 1)
    try check(one, { $0[$1] }, { $0[$1] = NSDecimalNumber(value: 1) })
    try check(Optional(one), { $0[$1] }, { $0[$1] = NSDecimalNumber(value: 1) })
    try check(Decimal(1), { $0[$1] }, { $0[$1] = 1 })
    try check(Decimal?(1), { $0[$1] }, { $0[$1] = 1 })
    try check(true, { $0[$1] }, { $0[$1] = true })
    try check(Int8(1), { $0[$1] }, { $0[$1] = 1 })
    try check(Int16(1), { $0[$1] }, { $0[$1] = 1 })
    try check(Int32(1), { $0[$1] }, { $0[$1] = 1 })
    try check(Int64(1), { $0[$1] }, { $0[$1] = 1 })
    try check(1, { $0[$1] }, { $0[$1] = 1 })
    try check(UInt16(1), { $0[$1] }, { $0[$1] = 1 })
    try check(UInt64(1), { $0[$1] }, { $0[$1] = 1 })
    try check(Float(1), { $0[$1] }, { $0[$1] = 1 })
    try check(1.0, { $0[$1] }, { $0[$1] = 1 })
    try check(CGFloat(1), { $0[$1] }, { $0[$1] = 1 })
  }

  @Test func `a number object takes every numeric attribute`() throws {
    try withNovel { book, context in
      for key in Self.keys { ManagedKey<NSNumber>(key)[book] = NSNumber(value: 1) }
      try context.save()
      for key in Self.keys {
        #expect(ManagedKey<NSNumber>(key)[book].intValue == 1, "\(key)")
        #expect(ManagedKey<NSNumber?>(key)[book]?.intValue == 1, "\(key)")
      }
    }
  }

  @Test func `a decimal keeps its digits where the attribute has them`() throws {
    try withNovel { book, _ in
      let price = ManagedKey<NSDecimalNumber>("price")
      price[book] = NSDecimalNumber(string: "9.9")
      #expect(price[book] == NSDecimalNumber(string: "9.9"))
      let pages = ManagedKey<NSDecimalNumber>("pages")
      pages[book] = NSDecimalNumber(string: "9.9")
      #expect(pages[book] == NSDecimalNumber(value: 9))
    }
  }

  @Test func `scalars that are nil read as zero`() throws {
    try withNovel { book, _ in
      #expect(ManagedKey<UInt16>("copies")[book] == 0)
      #expect(ManagedKey<CGFloat>("price")[book] == 0)
    }
  }
}
