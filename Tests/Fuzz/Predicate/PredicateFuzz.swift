import Foundation

// Built by Scripts/stress fuzz together with the sources of CoreDataPredicateLanguage, as one module; not a target
// of the package.

/// One run of the fuzzer: parsing any text yields a tree or an error, and the text of a tree parses to an
/// equal tree.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(
    decoding: UnsafeBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
  let arguments: [FormatArgument] = [
    .value(.string("é\"'\\")), .value(.int(-7)), .value(.double(1.5)),
    .value(.collection([.string("a"), .null])),
    .value(.date(0)), .value(.string("key.path")),
  ]
  do {
    let tree = try PredicateTemplate(parsing: text).predicate(arguments)
    checkRoundTrip(tree)
    // The result is irrelevant; evaluation must only return.
    _ = try? tree.matches(
      ValueSubject(.dictionary(["a": .string("x"), "b": .collection([.int(1), .null]), "key": .null])))
    _ = PredicateShape.taking(tree)
  } catch {
    _ = String(describing: error)
  }
  do {
    _ = try ExpressionTemplate(parsing: text).expression(arguments)
  } catch {
    _ = String(describing: error)
  }
  return 0
}

private func checkRoundTrip(_ tree: PredicateTree) {
  let printed = PredicatePrinter.text(of: tree)
  guard let again = try? PredicateTemplate(parsing: printed).predicate([]) else {
    // Predicates at the nesting limit may print with one more pair of parentheses.
    precondition(printed.utf8.count > 400, "what was printed does not parse: \(printed)")
    return
  }
  // A NaN is not equal to itself, so compares its text instead.
  precondition(
    again == tree || PredicatePrinter.text(of: again) == printed,
    "printed and parsed again it differs: \(printed)")
}
