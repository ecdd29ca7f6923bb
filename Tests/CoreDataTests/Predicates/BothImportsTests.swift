import CoreData
import Foundation
import Testing

import class CoreData.NSComparisonPredicate
import class CoreData.NSExpression

/// Code that must compile in a file that also imports Foundation.
@Suite struct BothImportsTests {
  @Test func `formats and keys are available`() {
    let predicate = NSPredicate(format: "name == %@ AND age > %d", "Ada", 30)
    #expect(predicate.evaluate(with: ["name": "Ada", "age": 36]))
    #expect(predicate.withSubstitutionVariables([:]) === predicate)
    predicate.allowEvaluation()
    let descriptor = NSSortDescriptor(key: "name", ascending: true)
    #expect(descriptor.key == "name")
  }

  @Test func `our classes are meant`() {
    let left: NSExpression = NSExpression(forKeyPath: "a")
    let comparison: NSComparisonPredicate = NSComparisonPredicate(
      leftExpression: left, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct,
      type: .equalTo)
    #expect(comparison.canonicalFormat == "a == 1")
    #expect(comparison.leftExpression == left)
  }
}
