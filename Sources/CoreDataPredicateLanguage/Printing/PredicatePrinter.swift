/// Writes trees in the canonical form of the format language. Parsing the text yields an equal tree.
///
/// An object or closure, which formats cannot express, is written as its description in angle brackets.
package struct PredicatePrinter {
  private var _text = ""

  package static func text(of tree: PredicateTree) -> String {
    var printer = PredicatePrinter()
    printer._print(tree)
    return printer._text
  }

  package static func text(of tree: ExpressionTree) -> String {
    var printer = PredicatePrinter()
    printer._print(tree, atLeast: PredicateFunction.Power.assignment)
    return printer._text
  }

  package static func text(of value: PredicateValue) -> String {
    var text = ""
    write(value, to: &text)
    return text
  }

  // MARK: Predicates

  private mutating func _print(_ tree: PredicateTree) {
    switch tree {
    case .constant(let value): _text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .and(let members): _print(members, joinedBy: " AND ", empty: "TRUEPREDICATE")
    case .or(let members): _print(members, joinedBy: " OR ", empty: "FALSEPREDICATE")
    case .not(let operand):
      _text += "NOT "
      _printMember(operand)
    case .comparison(let comparison): _print(comparison)
    case .block(let block): _text += "BLOCKPREDICATE(\(String(describing: block.wrapped)))"
    }
  }

  private mutating func _print(_ members: [PredicateTree], joinedBy separator: String, empty: String) {
    if members.count == 1 {
      _print(members[0])
      return
    }
    if members.isEmpty { _text += empty }
    for (index, member) in members.enumerated() {
      if index > 0 { _text += separator }
      _printMember(member)
    }
  }

  /// A member of a compound: in parentheses if it is a compound of several itself.
  private mutating func _printMember(_ tree: PredicateTree) {
    switch tree {
    case .and(let members), .or(let members):
      if members.count == 1 {
        _printMember(members[0])
      } else if members.isEmpty {
        _print(tree)
      } else {
        _text += "("
        _print(tree)
        _text += ")"
      }
    default: _print(tree)
    }
  }

  private mutating func _print(_ comparison: PredicateTree.Comparison) {
    switch comparison.modifier {
    case .direct: break
    case .any: _text += "ANY "
    case .all: _text += "ALL "
    }
    _print(comparison.left, atLeast: PredicateFunction.Power.sets)
    _text += " " + Self._spelling(of: comparison)
    _print(comparison.options)
    _text += " "
    _print(comparison.right, atLeast: PredicateFunction.Power.sets)
  }

  private static func _spelling(of comparison: PredicateTree.Comparison) -> String {
    switch comparison.op {
    case .lessThan: "<"
    case .lessThanOrEqual: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqual: ">="
    case .equal: "=="
    case .notEqual: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    case .customSelector: comparison.selector ?? "customSelector:"
    }
  }

  private mutating func _print(_ options: PredicateTree.Comparison.Options) {
    guard !options.isEmpty else { return }
    _text += "["
    if options.contains(.caseInsensitive) { _text += "c" }
    if options.contains(.diacriticInsensitive) { _text += "d" }
    if options.contains(.normalized) { _text += "n" }
    if options.contains(.localeSensitive) { _text += "l" }
    _text += "]"
  }

  // MARK: Expressions

  /// Writes the expression, in parentheses if its operator binds less tightly than `power`.
  private mutating func _print(_ tree: ExpressionTree, atLeast power: Int) {
    let own = Self._power(of: tree)
    if own < power {
      _text += "("
      _printBare(tree, own)
      _text += ")"
    } else {
      _printBare(tree, own)
    }
  }

  private static func _power(of tree: ExpressionTree) -> Int {
    switch tree {
    case .assignment: PredicateFunction.Power.assignment
    case .set: PredicateFunction.Power.sets
    case .function(.onesComplement, let operands) where operands.count == 1: PredicateFunction.Power.unary
    case .function(let function, let operands) where operands.count == 2:
      function.infix?.power ?? PredicateFunction.Power.primary
    case .constant(.int(let number)) where number < 0: PredicateFunction.Power.unary
    case .constant(.double(let number)) where number.sign == .minus && number.isFinite:
      PredicateFunction.Power.unary
    default: PredicateFunction.Power.primary
    }
  }

  private mutating func _printBare(_ tree: ExpressionTree, _ power: Int) {
    switch tree {
    case .constant(let value): Self.write(value, to: &_text)
    case .evaluatedObject: _text += "SELF"
    case .variable(let name): _text += "$" + name
    case .keyPath(let path): _print(path)
    case .keyPathOf(let base, let path):
      _printBase(base)
      _text += "."
      _print(path)
    case .function(let function, let arguments): _print(function, arguments, power)
    case .customFunction(let target, let selector, let arguments):
      _text += "FUNCTION("
      _print(target, atLeast: 0)
      _text += ", "
      Self.write(.string(selector), to: &_text)
      for argument in arguments {
        _text += ", "
        _print(argument, atLeast: 0)
      }
      _text += ")"
    case .subquery(let collection, let variable, let predicate):
      _text += "SUBQUERY("
      _print(collection, atLeast: 0)
      _text += ", $\(variable), "
      _print(predicate)
      _text += ")"
    case .aggregate(let elements):
      _text += "{"
      _printList(elements)
      _text += "}"
    case .set(let op, let left, let right):
      _print(left, atLeast: power)
      _text += op == .union ? " UNION " : op == .intersect ? " INTERSECT " : " MINUS "
      _print(right, atLeast: power + 1)
    case .conditional(let predicate, let then, let otherwise):
      _text += "TERNARY("
      _print(predicate)
      _text += ", "
      _printList([then, otherwise])
      _text += ")"
    case .assignment(let name, let value):
      _text += "$\(name) := "
      _print(value, atLeast: 0)
    case .anyKey: _text += "ANYKEY"
    case .block(let block, let arguments):
      _text += "BLOCK(\(String(describing: block.wrapped))"
      for argument in arguments {
        _text += ", "
        _print(argument, atLeast: 0)
      }
      _text += ")"
    }
  }

  /// Writes the base of a path or an index; the dot after a number would be read as its fraction.
  private mutating func _printBase(_ base: ExpressionTree) {
    switch base {
    case .constant(.int), .constant(.double), .constant(.decimal), .assignment:
      _text += "("
      _printBare(base, 0)
      _text += ")"
    default: _print(base, atLeast: PredicateFunction.Power.primary)
    }
  }

  private mutating func _printList(_ elements: [ExpressionTree]) {
    for (index, element) in elements.enumerated() {
      if index > 0 { _text += ", " }
      _print(element, atLeast: 0)
    }
  }

  private mutating func _print(_ function: PredicateFunction, _ arguments: [ExpressionTree], _ power: Int) {
    switch (function, arguments.count) {
    case (.onesComplement, 1):
      _text += "~"
      _print(arguments[0], atLeast: PredicateFunction.Power.unary)
    case (.element, 2):
      _printBase(arguments[0])
      _text += "["
      if case .function(let symbol, _) = arguments[1], symbol.isIndexSymbol {
        _text += symbol.rawValue
      } else {
        _print(arguments[1], atLeast: 0)
      }
      _text += "]"
    case (.cast, 2):
      _text += "CAST("
      _printList(arguments)
      _text += ")"
    case (_, 2) where function.infix != nil:
      let symbol = function.infix?.symbol ?? .plus
      let isRightAssociative = symbol == .power
      _print(arguments[0], atLeast: isRightAssociative ? power + 1 : power)
      _text += " \(symbol.rawValue) "
      _print(arguments[1], atLeast: isRightAssociative ? power : power + 1)
    default:
      _text += function.shortName
      _text += "("
      _printList(arguments)
      _text += ")"
    }
  }

  private mutating func _print(_ path: [String]) {
    for (index, component) in path.enumerated() {
      if index > 0 { _text += "." }
      Self._writeKey(component, to: &_text)
    }
  }
}
