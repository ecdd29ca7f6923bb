import CoreData
import Testing

@Suite struct NSExpressionTests {
  @Test func `every kind has its type and parts`() {
    #expect(NSExpression(forConstantValue: 3).expressionType == .constantValue)
    #expect(NSExpression(forConstantValue: 3).constantValue as? Int == 3)
    #expect(NSExpression(forConstantValue: nil).constantValue == nil)
    #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
    #expect(NSExpression.expressionForAnyKey().expressionType == .anyKey)
    #expect(NSExpression(forVariable: "x").variable == "x")
    #expect(NSExpression(forKeyPath: "a.b").keyPath == "a.b")
    #expect(NSExpression(forKeyPath: "a.b").operand.expressionType == .evaluatedObject)
    let sum = NSExpression(forFunction: "add:to:", arguments: [NSExpression(forKeyPath: "a"), 2])
    #expect(sum.expressionType == .function && sum.function == "add:to:")
    #expect(sum.arguments?.map(\.description) == ["a", "2"])
    let list = NSExpression(forAggregate: [NSExpression(forConstantValue: 1), 2])
    #expect(list.expressionType == .aggregate)
    #expect((list.collection as? [NSExpression])?.count == 2)
    let (left, right) = (NSExpression(forKeyPath: "a"), NSExpression(forKeyPath: "b"))
    let union = NSExpression(forUnionSet: left, with: right)
    #expect(union.expressionType == .unionSet && union.left == left && union.right == right)
    #expect(NSExpression(forIntersectSet: left, with: right).expressionType == .intersectSet)
    #expect(NSExpression(forMinusSet: left, with: right).expressionType == .minusSet)
    let predicate = NSPredicate(format: "$x.c == 1")
    let subquery = NSExpression(forSubquery: left, usingIteratorVariable: "x", predicate: predicate)
    #expect(
      subquery.expressionType == .subquery && subquery.predicate == predicate && subquery.variable == "x")
    #expect(subquery.collection as? NSExpression == left)
    let choice = NSExpression(forConditional: predicate, trueExpression: left, falseExpression: right)
    #expect(choice.expressionType == .conditional && choice.true == left && choice.false == right)
    let call = NSExpression(forFunction: left, selectorName: "b:", arguments: [right])
    #expect(call.operand == left && call.function == "b:" && call.arguments == [right])
  }

  @Test func `types have their raw values`() {
    #expect(NSExpression.ExpressionType.subquery.rawValue == 13)
    #expect(NSExpression.ExpressionType.conditional.rawValue == 20)
    #expect(NSExpression.ExpressionType.fetchRequest.rawValue == 50)
  }

  @Test func `formats give expressions`() throws {
    #expect(
      NSExpression(format: "a + %d", 2)
        == NSExpression(forFunction: "add:to:", arguments: [NSExpression(forKeyPath: "a"), 2]))
    #expect(NSExpression(format: "%K.@count", argumentArray: ["pages"]).keyPath == "pages.@count")
    #expect(throws: NSPredicate.FormatError.self) { try NSExpression(parsing: "a +") }
  }

  @Test func `expressions are evaluated`() throws {
    #expect(NSExpression(format: "max({1, a})").expressionValue(with: ["a": 3], context: nil) as? Int == 3)
    #expect(NSExpression(format: "a * 2").expressionValue(with: ["a": 1.5], context: nil) as? Double == 3)
    let block = NSExpression(
      block: { object, arguments, _ in "\((object as? [String: Any])?["a"] ?? "")-\(arguments[0])" },
      arguments: [NSExpression(forConstantValue: "x")])
    #expect(block.expressionType == .block)
    #expect(block.expressionValue(with: ["a": "y"], context: nil) as? String == "y-x")
    #expect(throws: NSPredicate.EvaluationError.self) {
      try NSExpression(forVariable: "x").evaluated(with: nil)
    }
  }

  @Test func `assignments reach the context`() throws {
    let context = NSMutableDictionary(dictionary: ["y": 2])
    #expect(try NSExpression(format: "$x := $y + 1").evaluated(with: nil, context: context) as? Int == 3)
    #expect(context["x"] as? Int == 3)
  }

  @Test func `a part that is not there traps`() async {
    await #expect(processExitsWith: .failure) { _ = NSExpression(forKeyPath: "a").constantValue }
    await #expect(processExitsWith: .failure) { _ = NSExpression(forFunction: "foo:", arguments: []) }
  }
}
