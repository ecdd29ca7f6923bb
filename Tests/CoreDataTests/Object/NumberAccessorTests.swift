import CoreData
import Foundation
import Testing

/// Accessors that declare a number as another numeric type than the model's.
@Suite struct NumberAccessorTests {
  /// Attributes of every numeric type, for the values 0 and 1.
  private static let keys = ["pages", "copies", "price", "weight", "cost", "inPrint"]

  private func withNovel(_ body: (NSManagedObject, NSManagedObjectContext) throws -> Void) throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait { try body(stack.context.insert("Novel"), stack.context) }
  }

  /// Writes ones through a key for each numeric attribute and reads them back after a save.
  ///
  /// - Parameter makeKey: Fixes the declared type; otherwise values would convert to other types that compile
  ///   too.
  private func check<Value: Equatable>(
    _ makeKey: (String) -> ManagedKey<Value>, _ one: Value,
    _ read: (ManagedKey<Value>, NSManagedObject) -> Value,
    _ write: (ManagedKey<Value>, NSManagedObject) -> Void
  ) throws {
    try withNovel { book, context in
      for key in Self.keys { write(makeKey(key), book) }
      try context.save()
      context.refresh(book, mergeChanges: false)
      for key in Self.keys {
        #expect(read(makeKey(key), book) == one, "\(key) as \(Value.self)")
        #expect((book.value(forKey: key) as? NSNumber)?.intValue == 1, "\(key) as \(Value.self)")
      }
    }
  }

  @Test func `every numeric declaration takes every numeric attribute`() throws {
    let one = NSDecimalNumber(value: 1)
    try check(ManagedKey<NSDecimalNumber>.init, one, { $0[$1] }, { $0[$1] = one })
    try check(ManagedKey<NSDecimalNumber?>.init, one, { $0[$1] }, { $0[$1] = one })
    try check(ManagedKey<Decimal>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Decimal?>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Bool>.init, true, { $0[$1] }, { $0[$1] = true })
    try check(ManagedKey<Int8>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Int16>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Int32>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Int64>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Int>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<UInt16>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<UInt64>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Float>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<Double>.init, 1, { $0[$1] }, { $0[$1] = 1 })
    try check(ManagedKey<CGFloat>.init, 1, { $0[$1] }, { $0[$1] = 1 })
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

  @Test func `an accessor of a smaller type truncates the number`() throws {
    try withNovel { book, context in
      book.setValue(9.9, forKey: "price")
      book.setValue(Decimal(string: "9.9"), forKey: "cost")
      book.setValue(300, forKey: "pages")
      try context.save()
      context.refresh(book, mergeChanges: false)
      for key in ["price", "cost"] {
        #expect(ManagedKey<Int8>(key)[book] == 9, "\(key)")
        #expect(ManagedKey<UInt16>(key)[book] == 9, "\(key)")
        #expect(ManagedKey<CGFloat>(key)[book] == 9.9, "\(key)")
      }
      #expect(ManagedKey<CGFloat>("pages")[book] == 300)
      #expect(ManagedKey<UInt8>("pages")[book] == 44)
    }
  }

  @Test func `an optional scalar shows as much of a number as it holds`() throws {
    try withNovel { book, _ in
      book.setValue(9.9, forKey: "price")
      #expect(ManagedKey<Int?>("price")[book] == 9)
      #expect(ManagedKey<UInt8?>("price")[book] == 9)
      #expect(ManagedKey<Float?>("price")[book] == 9.9)
      book.setValue(nil, forKey: "price")
      #expect(ManagedKey<Int?>("price")[book] == nil)
    }
  }

  @Test func `scalars that are nil read as zero`() throws {
    try withNovel { book, _ in
      #expect(ManagedKey<UInt16>("copies")[book] == 0)
      #expect(ManagedKey<CGFloat>("price")[book] == 0)
    }
  }
}
