/// Checks the arguments of `@Attribute` and `@Relationship`.
struct AttributeReview {
  private let _review: ModelReview
  private let _property: ModelProperty

  init(_ property: ModelProperty, in review: ModelReview) {
    _property = property
    _review = review
  }

  var diagnostics: [Diagnostic] {
    var found: [Diagnostic] = []
    if let attribute = _property.head.attribute("Relationship") {
      found += _relationship(attribute)
    } else if let attribute = _property.head.attribute("Attribute") {
      found += _attribute(attribute)
    }
    for attribute in _property.head.attributes where ["Attribute", "Relationship"].contains(attribute.name) {
      found += _originalName(attribute)
    }
    return found
  }

  private func _attribute(_ attribute: AttributeSyntax) -> [Diagnostic] {
    guard let arguments = attribute.arguments else { return [] }
    var found: [Diagnostic] = []
    for label in ["deleteRule", "inverse", "minimumModelCount", "maximumModelCount"] {
      guard let argument = arguments[label] else { continue }
      let name = attribute.range.lowerBound..<(arguments.range.lowerBound - 1)
      found.append(
        _review.error(
          "'\(label)' is an argument of '@Relationship'", at: argument.range,
          fixIts: [
            _review.fixIt("replace '@Attribute' with '@Relationship'", replacing: name, with: "@Relationship")
          ]))
    }
    if let option = arguments.option("unique"), TypeShape.isCollection(_property.type) {
      found.append(
        _review.error(
          "'.unique' requires a value that a store can compare, but '\(_property.name.text)' is a collection",
          at: option.range))
    }
    if let option = arguments.option("unique"), arguments.hasOption("ephemeral") {
      found.append(
        _review.error(
          "'.unique' compares stored values, and '.ephemeral' keeps '\(_property.name.text)' out of the store",
          at: option.range))
    }
    return found
  }

  private static let _deleteRules: Set<String> = ["noAction", "nullify", "cascade", "deny"]

  private func _relationship(_ attribute: AttributeSyntax) -> [Diagnostic] {
    guard let arguments = attribute.arguments else { return [] }
    var found: [Diagnostic] = []
    for rule in Self._deleteRules.sorted() {
      guard let option = arguments.option(rule) else { continue }
      found.append(
        _review.error(
          "A delete rule has the label 'deleteRule'", at: option.range,
          fixIts: [
            _review.insertion("insert 'deleteRule: '", at: option.range.lowerBound, of: "deleteRule: ")
          ]))
    }
    return found + _counts(arguments) + _inverse(arguments)
  }

  private func _counts(_ arguments: ArgumentList) -> [Diagnostic] {
    func number(_ label: String) -> (Int, Range<Int>)? {
      guard let argument = arguments[label], let number = Int(_review.piece.text(argument.value)) else {
        return nil
      }
      return (number, argument.range)
    }
    let (minimum, maximum) = (number("minimumModelCount"), number("maximumModelCount"))
    if let minimum, minimum.0 < 0 {
      return [_review.error("A minimum count can't be negative", at: minimum.1)]
    }
    if let maximum, maximum.0 < 0 {
      return [_review.error("A maximum count can't be negative", at: maximum.1)]
    }
    // A maximum of 0 means no maximum.
    guard let minimum, let maximum, maximum.0 > 0, minimum.0 > maximum.0 else { return [] }
    return [
      _review.error(
        "At least \(minimum.0) and at most \(maximum.0) is no count that '\(_property.name.text)' can have",
        at: minimum.1)
    ]
  }

  private func _inverse(_ arguments: ArgumentList) -> [Diagnostic] {
    guard let argument = arguments["inverse"] else { return [] }
    let words = argument.tokens.filter(\.isName).map(\.text)
    let own = [_review.model.type.name.text, _property.name.text]
    if words == own {
      return [_review.error("'\(_property.name.text)' can't be its own inverse", at: argument.range)]
    }
    if let other = _namesBack(words) {
      return [
        _review.error(
          "'\(_property.name.text)' and '\(other)' name each other as inverse; give it on one side only",
          at: argument.range)
      ]
    }
    // The destination is another class, which the macro cannot see.
    guard argument.tokens.first?.isPunctuation("\\") ?? false,
      argument.tokens.dropFirst().first?.isPunctuation(".") ?? false
    else { return [] }
    return [
      _review.error(
        "The key path of an inverse begins with the class at the other end, as in '\\Other.\(words.first ?? "property")'",
        at: argument.range)
    ]
  }

  /// The name of an earlier property of the class that is the inverse and names this one as its own. Of two classes, the
  /// compiler shows each alone.
  private func _namesBack(_ words: [String]) -> String? {
    let own = _review.model.type.name.text
    guard words.count == 2, words[0] == own else { return nil }
    let properties = _review.model.properties
    guard let other = properties.firstIndex(where: { $0.name.text == words[1] }),
      let place = properties.firstIndex(where: { $0.name.text == _property.name.text }), other < place,
      let back = properties[other].head.attribute("Relationship")?.arguments?["inverse"],
      back.tokens.filter(\.isName).map(\.text) == [own, _property.name.text]
    else { return nil }
    return words[1]
  }

  private func _originalName(_ attribute: AttributeSyntax) -> [Diagnostic] {
    guard let argument = attribute.arguments?["originalName"], _review.piece.text(argument.value) == "\"\""
    else {
      return []
    }
    return [
      _review.error("'originalName' is the name of a stored property and can't be empty", at: argument.range)
    ]
  }
}
