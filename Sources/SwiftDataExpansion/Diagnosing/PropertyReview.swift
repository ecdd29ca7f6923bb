/// Diagnoses errors in one property of a model.
struct PropertyReview {
  private let _review: ModelReview
  private let _member: MemberDeclaration
  private let _properties: [ModelProperty]

  init(_ member: MemberDeclaration, in review: ModelReview) {
    _review = review
    _member = member
    _properties = ModelProperty.all(of: member, in: review.piece)
  }

  private static let _markers = ["Attribute", "Relationship", "Transient"]

  var diagnostics: [Diagnostic] {
    guard case .variable(let variable) = _member.kind else { return [] }
    guard let property = _properties.first else { return _pattern(variable) }
    switch property.storage {
    case .generated: return []
    case .computed: return _misplaced(property, "a computed property", except: "Transient") + _several
    case .static: return _misplaced(property, "a static property", except: nil)
    case .lazy: return _misplaced(property, "a lazy property, which isn't stored", except: "Transient")
    case .transient: return _several + _transient(property)
    case .unsupported(let reason): return [_unsupported(property, reason)] + _several
    case .constant:
      return _several + _constant(property) + _wrapper(property)
        + AttributeReview(property, in: _review).diagnostics
    case .persisted:
      return _several + _observers(property) + _wrapper(property)
        + AttributeReview(property, in: _review).diagnostics
    }
  }

  // MARK: Attributes

  private func _misplaced(_ property: ModelProperty, _ kind: String, except: String?) -> [Diagnostic] {
    Self._markers.filter { $0 != except }.compactMap { name in
      guard let attribute = _member.head.attribute(name) else { return nil }
      return _review.error(
        "'@\(name)' requires a stored property, but '\(property.name.text)' is \(kind)", at: attribute.range,
        fixIts: [_review.removal("remove '@\(name)'", of: attribute.range)])
    }
  }

  /// Attributes that exclude each other.
  private var _several: [Diagnostic] {
    var found: [Diagnostic] = []
    for name in Self._markers {
      for attribute in _member.head.attributes(name).dropFirst() {
        found.append(
          _review.error(
            "'@\(name)' stands twice at one property; write its arguments in one", at: attribute.range,
            fixIts: [_review.removal("remove this one", of: attribute.range)]))
      }
    }
    guard found.isEmpty else { return found }
    if _member.head.attribute("Transient") != nil {
      for name in ["Attribute", "Relationship"] {
        guard let attribute = _member.head.attribute(name) else { continue }
        found.append(
          _review.error(
            "'@\(name)' describes what is stored, and '@Transient' keeps the property out of the store",
            at: attribute.range, fixIts: [_review.removal("remove '@\(name)'", of: attribute.range)]))
      }
    } else if _member.head.attribute("Relationship") != nil,
      let attribute = _member.head.attribute("Attribute")
    {
      found.append(
        _review.warning(
          "'@Attribute' has no effect beside '@Relationship'", at: attribute.range,
          fixIts: [_review.removal("remove '@Attribute'", of: attribute.range)]))
    }
    return found
  }

  private static let _wrappers: Set<String> = [
    "Published", "State", "StateObject", "ObservedObject", "Binding", "Environment", "AppStorage", "Query",
    "NSManaged",
    "ObservationTracked",
  ]

  private func _wrapper(_ property: ModelProperty) -> [Diagnostic] {
    _member.head.attributes.filter { Self._wrappers.contains($0.name) }.map { attribute in
      _review.error(
        "'@\(attribute.name)' and '@Model' can't both supply the accessors of '\(property.name.text)'",
        at: attribute.range, fixIts: [_review.removal("remove '@\(attribute.name)'", of: attribute.range)])
    }
  }

  // MARK: Storage

  private func _pattern(_ variable: VariableDeclaration) -> [Diagnostic] {
    guard !_member.head.has("static"), let binding = variable.bindings.first,
      _member.head.attribute("Transient") == nil
    else { return [] }
    return [
      _review.error(
        "A stored property of a model is declared by its name; declare each on its own", at: binding.range)
    ]
  }

  private func _transient(_ property: ModelProperty) -> [Diagnostic] {
    guard !property.hasInitialValue else { return [] }
    let message =
      property.variable.isConstant && TypeShape.isOptional(property.type)
      ? "'@Transient' requires a value: fetched objects don't pass through the initializers that set '\(property.name.text)'"
      : "'@Transient' requires a value or an optional type: fetched objects don't pass through the initializers that set "
        + "'\(property.name.text)'"
    return [_review.error(message, at: property.name.range)]
  }

  private func _unsupported(_ property: ModelProperty, _ reason: UnsupportedProperty) -> Diagnostic {
    let name = property.name.text
    switch reason {
    case .severalNames:
      return _review.error(
        "A model's properties need accessors each; declare '\(name)' on its own",
        at: property.variable.keyword.range)
    case .weak(let modifier):
      let range = _member.head.modifiers.first { $0.name == modifier }?.range ?? property.name.range
      return _review.error(
        "A relationship refers to a row, so '\(name)' can't be '\(modifier)'", at: range,
        fixIts: [_review.removal("remove '\(modifier)'", of: range)])
    case .type(let flaw):
      let range = property.binding.type ?? property.name.range
      let insertion = _review.insertion(
        "add '@Transient' to keep the property in memory", at: _member.range.lowerBound, of: "@Transient ")
      return _review.error(Self._message(name, flaw), at: range, fixIts: [insertion])
    }
  }

  private static func _message(_ name: String, _ flaw: TypeShape.Flaw) -> String {
    let kind =
      switch flaw {
      case .function: "a function"
      case .tuple: "a tuple; declare a Codable struct"
      case .existential: "an existential; name a concrete type"
      case .opaque: "an opaque type; name a concrete type"
      case .metatype: "a type"
      }
    return "A store can't hold '\(name)', which is \(kind)"
  }

  private func _constant(_ property: ModelProperty) -> [Diagnostic] {
    let keyword = property.variable.keyword
    if let attribute = _member.head.attribute("Relationship") {
      return [
        _review.error(
          "A relationship changes with its inverse, so '\(property.name.text)' has to be a variable",
          at: attribute.range,
          fixIts: [_review.fixIt("replace 'let' with 'var'", replacing: keyword.range, with: "var")])
      ]
    }
    guard property.binding.value != nil else { return [] }
    return [
      _review.warning(
        "'\(property.name.text)' keeps its initial value in fetched objects, because it is a constant; "
          + "declare it 'private(set) var' to have it read from the store",
        at: keyword.range,
        fixIts: [
          _review.fixIt(
            "replace 'let' with 'private(set) var'", replacing: keyword.range, with: "private(set) var")
        ])
    ]
  }

  private func _observers(_ property: ModelProperty) -> [Diagnostic] {
    guard case .observers(let range) = property.binding.accessors else { return [] }
    return [
      _review.warning(
        "The observers of '\(property.name.text)' aren't called: its accessors are those of '@Model'",
        at: range)
    ]
  }
}
