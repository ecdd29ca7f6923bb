import CoreDataPredicateLanguage
import Testing

/// All predefined functions.
struct FunctionTests {
  @Test(arguments: PredicateFunction.called)
  func `a function is found by its selector in any case`(function: PredicateFunction) {
    #expect(PredicateFunction(named: function.rawValue) == function)
    #expect(PredicateFunction(named: function.rawValue.uppercased()) == function)
  }

  @Test(arguments: PredicateFunction.called.filter { $0.arity != 2...2 })
  func `a function of one argument is found without its colon`(function: PredicateFunction) {
    #expect(PredicateFunction(named: String(function.shortName)) == function)
  }

  @Test(arguments: PredicateFunction.called)
  func `a printed call parses to the same call`(function: PredicateFunction) throws {
    var arguments = (0..<function.arity.lowerBound).map { ExpressionTree.keyPath(["key\($0)"]) }
    if function == .cast { arguments[1] = .constant("NSString") }
    if function == .fetch { arguments[2] = .constant(false) }
    let comparison = PredicateTree.comparison(
      .init(.function(function, arguments), .equal, .constant(1)))
    #expect(try parsed(PredicatePrinter.text(of: comparison)) == comparison)
  }

  @Test(arguments: PredicateFunction.called.filter { $0.arity.lowerBound > 0 })
  func `a call without arguments is refused`(function: PredicateFunction) {
    #expect(throws: PredicateFormatError.self) {
      try parsed("\(function.rawValue)() == 1")
    }
  }

  @Test(arguments: [("count", PredicateFunction.count), ("avg", .average), ("stddev", .standardDeviation)])
  func `a collection operator names an aggregate`(name: String, function: PredicateFunction) {
    #expect(PredicateFunction(collectionOperator: name) == function)
  }

  @Test(arguments: ["abs", "now", "add:to", "distinctUnionOfObjects", ""])
  func `other names are no aggregates`(name: String) {
    #expect(PredicateFunction(collectionOperator: name) == nil)
  }
}
