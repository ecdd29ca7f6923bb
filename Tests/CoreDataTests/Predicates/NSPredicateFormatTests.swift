import CoreData
import Testing

@Suite struct NSPredicateFormatTests {
  @Test func `a comparison has its parts`() throws {
    let predicate = NSPredicate(format: "name BEGINSWITH[cd] %@", "A")
    let comparison = try #require(predicate as? NSComparisonPredicate)
    #expect(comparison.leftExpression.keyPath == "name")
    #expect(comparison.rightExpression.constantValue as? String == "A")
    #expect(comparison.predicateOperatorType == .beginsWith)
    #expect(comparison.comparisonPredicateModifier == .direct)
    #expect(comparison.options == [.caseInsensitive, .diacriticInsensitive])
    #expect(comparison.customSelector == nil)
  }

  @Test func `a compound has its members`() throws {
    let compound = try #require(NSPredicate(format: "a == 1 AND b == 2 AND c == 3") as? NSCompoundPredicate)
    #expect(compound.compoundPredicateType == .and)
    #expect(compound.subpredicates.map(\.description) == ["a == 1", "b == 2", "c == 3"])
    let negation = try #require(NSPredicate(format: "NOT a == 1") as? NSCompoundPredicate)
    #expect(negation.compoundPredicateType == .not)
    #expect(negation.subpredicates == [NSPredicate(format: "a == 1")])
    #expect((NSPredicate(format: "a == 1 OR b == 2") as? NSCompoundPredicate)?.compoundPredicateType == .or)
  }

  @Test func `any is a modifier`() {
    let predicate = NSPredicate(format: "ANY tags.name == 'x'") as? NSComparisonPredicate
    #expect(predicate?.comparisonPredicateModifier == .any)
  }

  @Test func `constant predicates are foundations`() {
    #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
    #expect(NSPredicate(value: false) == NSPredicate(format: "FALSEPREDICATE"))
    #expect(NSPredicate(value: false) != NSPredicate(format: "a == 1"))
  }

  @Test func `arguments of every type are taken`() throws {
    let (date, uuid) = (Date(timeIntervalSinceReferenceDate: 5), UUID())
    let url = try #require(URL(string: "http://example.com"))
    func constant(_ predicate: NSPredicate) -> Any? {
      (predicate as? NSComparisonPredicate)?.rightExpression.constantValue
    }
    #expect(constant(NSPredicate(format: "a == %@", "x")) as? String == "x")
    #expect(constant(NSPredicate(format: "a == %@", NSString(string: "x"))) as? String == "x")
    #expect(constant(NSPredicate(format: "a == %d", 3)) as? Int == 3)
    #expect(constant(NSPredicate(format: "a == %lld", Int64.max)) as? Int64 == .max)
    #expect(constant(NSPredicate(format: "a == %f", 1.5)) as? Double == 1.5)
    #expect(constant(NSPredicate(format: "a == %@", NSNumber(value: 3))) as? Int == 3)
    #expect(constant(NSPredicate(format: "a == %@", NSNumber(value: true))) as? Bool == true)
    #expect(constant(NSPredicate(format: "a == %@", date as any CVarArg)) as? Date == date)
    #expect(constant(NSPredicate(format: "a == %@", date as NSDate)) as? Date == date)
    #expect(constant(NSPredicate(format: "a == %@", uuid as any CVarArg)) as? UUID == uuid)
    #expect(constant(NSPredicate(format: "a == %@", url as any CVarArg)) as? URL == url)
    #expect(constant(NSPredicate(format: "a == %@", Data([1]) as any CVarArg)) as? Data == Data([1]))
    #expect(constant(NSPredicate(format: "a == %@", Decimal(2) as any CVarArg)) as? NSDecimalNumber == 2)
    #expect(constant(NSPredicate(format: "a IN %@", [1, 2])) as? [Int] == [1, 2])
    #expect(
      (constant(NSPredicate(format: "a IN %@", Set(["x", "y"]))) as? [String])?.sorted() == ["x", "y"])
    #expect(constant(NSPredicate(format: "a IN %@", NSArray(array: ["x"]))) as? [String] == ["x"])
    #expect(constant(NSPredicate(format: "a == %@", NSNull())) == nil)
  }

  @Test func `numbers keep their difference from booleans`() {
    #expect(NSPredicate(format: "a == %@", NSNumber(value: true)).description == "a == TRUE")
    #expect(NSPredicate(format: "a == %@", NSNumber(value: 1)).description == "a == 1")
    #expect(NSPredicate(format: "a == %@", NSNumber(value: 1.0)).description == "a == 1.0")
    #expect(
      NSPredicate(format: "a == %@", NSNumber(value: UInt64.max)).description.contains("18446744073709551615")
    )
  }

  @Test func `arguments may come as an array`() {
    let predicate = NSPredicate(format: "%K == %@ AND b == %d", argumentArray: ["a", NSNull(), 3])
    #expect(predicate.description == "a == nil AND b == 3")
    #expect(NSPredicate(format: "a == 1", argumentArray: nil).description == "a == 1")
    let hidden: Any = String?.none as Any
    #expect(NSPredicate(format: "a == %@", argumentArray: [hidden]).description == "a == nil")
  }

  @Test func `expressions may be arguments`() {
    #expect(NSPredicate(format: "%@ > 100", NSExpression(forVariable: "count")).description == "$count > 100")
    let bounds = [NSExpression(forConstantValue: 1), NSExpression(forKeyPath: "b")]
    #expect(NSPredicate(format: "a BETWEEN %@", bounds).description == "a BETWEEN {1, b}")
  }

  @Test func `text from outside throws`() throws {
    #expect(try NSPredicate(parsing: "a == %@", arguments: [1]) == NSPredicate(format: "a == 1"))
    #expect(throws: NSPredicate.FormatError.self) { try NSPredicate(parsing: "a ==") }
    #expect(throws: NSPredicate.FormatError.self) { try NSPredicate(parsing: "a == %@") }
    #expect(throws: NSPredicate.FormatError.self) { try NSCompoundPredicate(parsing: "a == 1") }
    #expect(try NSCompoundPredicate(parsing: "a == 1 OR b == 2").subpredicates.count == 2)
  }

  @Test func `the error of a format says where`() throws {
    let error = try #require(
      #expect(throws: NSPredicate.FormatError.self) { try NSPredicate(parsing: "a == 1 AND") })
    #expect(error.offset == 10)
    #expect(error.expected == ["an expression"])
    #expect(error.localizedDescription.hasSuffix("  a == 1 AND\n            ^"))
  }

  @Test func `a predicate is no argument`() {
    #expect(throws: NSPredicate.FormatError.self) {
      try NSPredicate(parsing: "%@", arguments: [NSPredicate(value: true)])
    }
  }

  @Test func `a malformed format traps`() async {
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "a == ") }
  }

  @Test func `equal formats are equal predicates`() {
    let (one, other) = (
      NSPredicate(format: "a == %@ AND b > 2", 1), NSPredicate(format: "a = 1 && b > %d", 2)
    )
    #expect(one == other)
    #expect(one.hash == other.hash)
    #expect(one != NSPredicate(format: "a == 1 AND b > 3"))
    #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
  }

  @Test func `a copy is equal`() {
    for format in ["a == 1", "a == 1 AND b == 2"] {
      let predicate = NSPredicate(format: format)
      #expect(predicate.copy() as? NSPredicate == predicate)
    }
  }

  @Test func `variables are replaced`() {
    let template = NSPredicate(format: "name == $NAME AND age > $AGE AND city == $CITY")
    let filled = template.withSubstitutionVariables(
      ["NAME": "Ada", "AGE": NSExpression(forKeyPath: "limit"), "OTHER": 1])
    #expect(filled.description == "name == \"Ada\" AND age > limit AND city == $CITY")
    #expect(template.description == "name == $NAME AND age > $AGE AND city == $CITY")
    #expect(
      NSPredicate(format: "a == $X").withSubstitutionVariables(["X": NSNull()]).description == "a == nil")
  }

  @Test func `compounds of predicates are understood`() {
    let parts = [NSPredicate(format: "a == 1"), NSPredicate(format: "b == 2 OR c == 3")]
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    #expect(compound.canonicalFormat == "a == 1 AND (b == 2 OR c == 3)")
    #expect(compound == NSPredicate(format: "a == 1 AND (b == 2 OR c == 3)"))
    #expect(NSPredicate(format: "a == 1 AND (b == 2 OR c == 3)").isEqual(compound))
    #expect(compound != NSCompoundPredicate(orPredicateWithSubpredicates: parts))
    #expect(compound.withSubstitutionVariables(["x": 1]) === compound)
    let open = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "a == $x"))
    #expect(open.withSubstitutionVariables(["x": 1]).canonicalFormat == "NOT a == 1")
    #expect(NSCompoundPredicate(type: .and, subpredicates: []).canonicalFormat == "TRUEPREDICATE")
  }

  @Test func `a parsed compound can be changed as Foundation allows`() throws {
    let compound = try #require(NSPredicate(format: "a == 1 AND b == 2") as? NSCompoundPredicate)
    compound.subpredicates.append(NSPredicate(format: "c == 3"))
    #expect(compound.canonicalFormat == "a == 1 AND b == 2 AND c == 3")
    compound.compoundPredicateType = .or
    #expect(compound.canonicalFormat == "a == 1 OR b == 2 OR c == 3")
  }

  @Test func `comparisons can be built`() {
    let predicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "a.b"), rightExpression: NSExpression(forConstantValue: "x"),
      modifier: .all, type: .contains, options: [.caseInsensitive])
    #expect(predicate == NSPredicate(format: "ALL a.b CONTAINS[c] 'x'"))
    let custom = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forConstantValue: 1),
      customSelector: "isNear:")
    #expect(custom.customSelector == "isNear:")
    #expect(custom == NSPredicate(format: "a isNear: 1"))
  }

  @Test func `operators have their raw values`() {
    #expect(NSComparisonPredicate.Operator.equalTo.rawValue == 4)
    #expect(NSComparisonPredicate.Operator.contains.rawValue == 99)
    #expect(NSComparisonPredicate.Operator.between.rawValue == 100)
    #expect(NSComparisonPredicate.Options.normalized.rawValue == 4)
  }

  @Test func `values format as before`() {
    let uuid = UUID()
    #expect(String(format: "%@ %@ %d %@", "x", uuid as any CVarArg, 3, NSNumber(value: 4)) == "x \(uuid) 3 4")
    #expect(String(format: "%@", [1, 2] as any CVarArg) == "[1, 2]")
  }
}
