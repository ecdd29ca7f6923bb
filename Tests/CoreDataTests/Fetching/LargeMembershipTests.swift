import CoreData
import Foundation
import Testing

/// IN with more values than are compared one by one.
@Suite struct LargeMembershipTests {
  @Test func `Objects found before a save are found by their permanent IDs after it`() throws {
    let stack = try TestStack(.sqlite)
    let predicate = try stack.context.performAndWait {
      let authors = (0..<20).map { stack.context.insert("Author", ["name": "\($0)"]) }
      let other = stack.context.insert("Author", ["name": "other"])
      let predicate = NSPredicate(format: "SELF IN %@", authors)
      for _ in 0..<3 {
        #expect(authors.allSatisfy { predicate.evaluate(with: $0) })
        #expect(!predicate.evaluate(with: other))
      }
      try stack.context.save()
      #expect(authors.allSatisfy { predicate.evaluate(with: $0) })
      #expect(!predicate.evaluate(with: other))
      return predicate
    }
    let second = stack.sibling()
    try second.performAndWait {
      let found = try second.all("Author").filter { predicate.evaluate(with: $0) }
      #expect(Set(found.map { $0.text("name") }) == Set((0..<20).map { "\($0)" }))
      #expect(found.allSatisfy { predicate.evaluate(with: $0.objectID) })
    }
  }

  private static let _names: [String?] = [
    "Ada", "ADA", "Zo\u{EB}", "zoe\u{308}", "zoe", "stra\u{DF}e", "STRASSE", "", nil, "x1", "X1", "\u{130}a",
  ]

  /// A server has no comparison by a locale.
  private static let _operations =
    ["IN %@", "IN[c] %@", "IN[d] %@", "IN[cd] %@", "IN[n] %@"]
    + (TestDatabase.server == nil ? ["IN[l] %@"] : [])

  @Test(arguments: Setting.allCases, _operations)
  func `Texts with options are found as equality finds them`(_ setting: Setting, _ operation: String) throws {
    let stack = try TestStack(setting)
    let wanted = ["ada", "ZOE", "zo\u{EB}", "strasse", "X1", "nobody"] + (0..<30).map { "no \($0)" }
    let equality = operation.replacingOccurrences(of: "IN", with: "==")
    try stack.context.performAndWait {
      for name in Self._names { stack.context.insert("Author", ["name": name ?? NSNull()]) }
      try stack.context.save()
      func names(_ predicate: NSPredicate) throws -> [String] {
        try stack.context.all("Author", where: predicate).map { $0.text("name") ?? "nil" }.sorted()
      }
      let each = NSCompoundPredicate(
        orPredicateWithSubpredicates: wanted.map { NSPredicate(format: "name \(equality)", $0) })
      let isIn = NSPredicate(format: "name \(operation)", wanted)
      try #expect(names(isIn) == names(each))
      // SQL, as in Core Data, excludes nil from both a comparison and its opposite.
      let isNotIn = NSCompoundPredicate(
        andPredicateWithSubpredicates: [
          NSPredicate(format: "name != nil"), NSCompoundPredicate(notPredicateWithSubpredicate: isIn),
        ])
      let known = Self._names.map { $0 ?? "nil" }.filter { $0 != "nil" }
      try #expect((names(isNotIn) + names(isIn)).sorted() == known.sorted())
    }
  }
}
