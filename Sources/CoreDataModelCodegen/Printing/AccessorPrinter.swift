/// Generates the accessor functions that `@NSManaged` declarations link against.
///
/// Each function has the symbol that the compiler references, and the access level of the declaration:
/// whole-module builds require both.
struct AccessorPrinter {
  private let _catalogue: TypeCatalogue
  /// Property names of the model, if there is one; distinguishes `primitiveTitle` from a property with that
  /// name.
  private let _modelled: Set<String>
  private(set) var problems: [SourceProblem] = []

  init(_ catalogue: TypeCatalogue, modelled: Set<String>) {
    _catalogue = catalogue
    _modelled = modelled
  }

  /// The generated text for one class.
  private struct ClassText {
    /// Begins the functions' names, so that no subclass has one of the same name.
    let prefix: String
    var keys: [String: String] = [:]
    var functions: [String] = []

    init(module: String, path: String) {
      prefix = "managed_\(module)_\(path.replacing(".", with: "_"))"
    }
  }

  /// The accessors of a module, as one source; nil if it has none.
  mutating func print(_ module: ScannedModule) -> String? {
    var order: [String] = []
    var classes: [String: ClassText] = [:]
    var symbols: Set<String> = []
    var imports: Set<String> = ["CoreData", "Foundation"]
    let properties = Dictionary(grouping: module.managed) { $0.context.joined(separator: ".") }
      .mapValues { Set($0.compactMap { if case .property = $0.kind { $0.name } else { nil } }) }
    for declaration in module.managed {
      let path = declaration.context.joined(separator: ".")
      if classes[path] == nil { order.append(path) }
      var text = classes[path] ?? ClassText(module: module.name, path: path)
      imports.formUnion(declaration.imports)
      _print(declaration, in: module.name, names: properties[path] ?? [], into: &text, &symbols)
      classes[path] = text
    }
    guard !order.isEmpty else { return nil }
    var source = SourceText()
    source.line(
      "// Accessors of the module's @NSManaged declarations, by CoreDataModelPlugin; changes made here are lost."
    )
    for name in imports.sorted() where name != module.name { source.line("import \(name)") }
    source.line()
    // On a Mac, Core Data makes them when the program runs.
    source.line("#if !canImport(ObjectiveC)")
    for path in order {
      let text = classes[path]!
      source.line()
      let name = path.split(separator: ".").map { SwiftName.escaped(String($0)) }.joined(separator: ".")
      source.block("extension \(name)") { source in
        source.block("fileprivate enum ManagedKeys") { source in
          for (name, type) in text.keys.sorted(by: { $0.key < $1.key }) {
            source.line("static let \(name)Key = ManagedKey<\(type)>(\(SourceText.literal(name)))")
          }
        }
        for function in text.functions {
          source.line()
          for line in function.split(separator: "\n") { source.line(String(line)) }
        }
      }
    }
    source.line()
    source.line("#endif")
    return source.text
  }

  private mutating func _print(
    _ declaration: ManagedDeclaration, in module: String, names: Set<String>, into text: inout ClassText,
    _ symbols: inout Set<String>
  ) {
    guard let nominal = _catalogue.nominal(declaration.context) else {
      _report(
        declaration,
        "the class '\(declaration.context.joined(separator: "."))' is not in this module's sources")
      return
    }
    guard !_isPrivate(nominal) else {
      _report(declaration, "accessors of a private class cannot be supplied; make the class internal")
      return
    }
    let context = MangledContext(type: nominal, extensionModule: nominal.module == module ? nil : module)
    var discriminator: String?
    if declaration.access.isPrivate {
      let file = declaration.file.split(separator: "/").last.map(String.init) ?? declaration.file
      discriminator = FileDiscriminator.make(module: module, file: file)
    }
    let name = DeclarationName(declaration.name, discriminator: discriminator)
    switch declaration.kind {
    case .property(let type):
      guard let mangled = _mangled(type, declaration) else { return }
      let getter = SymbolMangler.getter(of: name, in: context, type: mangled)
      guard symbols.insert(getter).inserted else { return }
      let setter = SymbolMangler.setter(of: name, in: context, type: mangled)
      _printProperty(declaration, type, getter: getter, setter: setter, into: &text)
    case .method(let parameters, let result):
      var mangled: [(label: String?, type: MangledType)] = []
      for parameter in parameters {
        guard let type = _mangled(parameter.type, declaration) else { return }
        mangled.append((parameter.label, type))
      }
      guard result == nil, let body = _body(declaration, parameters, names) else {
        _report(
          declaration,
          "'\(declaration.name)' is no to-many accessor; there are addToX(_:), removeFromX(_:), and for ordered ones "
            + "insertIntoX(_:at:), removeFromX(at:), replaceX(at:with:)")
        return
      }
      let symbol = SymbolMangler.method(name, in: context, parameters: mangled, result: nil)
      guard symbols.insert(symbol).inserted else { return }
      if text.keys[body.relationship] == nil { text.keys[body.relationship] = "NSSet?" }
      let list = parameters.enumerated().map { "_ a\($0.offset): \($0.element.type)" }.joined(separator: ", ")
      text.functions.append(
        """
        @_silgen_name("\(symbol)")
        \(_keyword(declaration.access))\(_dynamic(declaration))final func \(text.prefix)_\(text.functions.count)(\(list)) {
          ManagedKeys.\(body.relationship)Key.\(body.call)
        }
        """)
      if let overload = _sequenceOverload(declaration, parameters, body) { text.functions.append(overload) }
    }
  }

  /// For `addToBooks([book])` where only `addToBooks(_: NSSet)` is declared: here NSSet cannot be created
  /// from an array literal. The overload takes any sequence, so that a class may declare the array overload
  /// itself, which Swift then prefers.
  private func _sequenceOverload(
    _ declaration: ManagedDeclaration, _ parameters: [ManagedDeclaration.Parameter],
    _ body: (relationship: String, call: String)
  ) -> String? {
    // A private method is visible only where it is declared; an overload in another file would be visible
    // beyond it.
    guard parameters.count == 1, parameters[0].label == nil, !declaration.access.isPrivate,
      case .named(let path) = parameters[0].type, ["NSSet", "NSOrderedSet"].contains(path.last?.name)
    else { return nil }
    return """
      \(_keyword(declaration.access))final func \(SwiftName.escaped(declaration.name))(_ a0: some Sequence<NSManagedObject>) {
        ManagedKeys.\(body.relationship)Key.\(body.call)
      }
      """
  }

  /// A declaration in an extension is dynamic. A function with its symbol must be so, too: in an optimized build
  /// the compiler of another module reads either of the two, and stops at a difference.
  private func _dynamic(_ declaration: ManagedDeclaration) -> String {
    declaration.isInExtension ? "dynamic " : ""
  }

  private func _printProperty(
    _ declaration: ManagedDeclaration, _ type: TypeSyntax, getter: String, setter: String,
    into text: inout ClassText
  ) {
    let primitive = _primitive(declaration.name)
    let name = primitive ?? declaration.name
    // A property and its primitive twin share one key only if their declarations have the same type.
    let isShared = text.keys[name].map { $0 == type.description || $0 == "NSSet?" } ?? true
    if isShared { text.keys[name] = type.description }
    let key = isShared ? "ManagedKeys.\(name)Key" : "ManagedKey<\(type)>(\(SourceText.literal(name)))"
    text.functions.append(
      """
      @_silgen_name("\(getter)")
      \(_keyword(declaration.access))\(_dynamic(declaration))final func \(text.prefix)_\(declaration.name)_get() -> \(type) {
        \(key)[self]
      }
      """)
    let assign = primitive == nil ? "\(key)[self] = value" : "\(key).setPrimitive(value, of: self)"
    text.functions.append(
      """
      @_silgen_name("\(setter)")
      \(_keyword(declaration.setterAccess))\(_dynamic(declaration))final func \(text.prefix)_\(declaration.name)_set(_ value: __owned \(type)) {
        \(assign)
      }
      """)
  }

  /// The property that `primitiveTitle` is the primitive accessor of.
  private func _primitive(_ name: String) -> String? {
    guard name.hasPrefix("primitive"), !_modelled.contains(name) else { return nil }
    let rest = name.dropFirst("primitive".count)
    guard let first = rest.first, first.isUppercase else { return nil }
    return _property(capitalized: String(rest), among: _modelled)
  }

  /// The property whose name with a capital first letter this is.
  private func _property(capitalized: String, among names: Set<String>) -> String {
    names.sorted().first { SwiftName.capitalized($0) == capitalized }
      ?? capitalized.prefix(1).lowercased() + capitalized.dropFirst()
  }

  // MARK: Methods

  private func _body(
    _ declaration: ManagedDeclaration, _ parameters: [ManagedDeclaration.Parameter], _ names: Set<String>
  ) -> (relationship: String, call: String)? {
    let name = declaration.name
    func relationship(_ prefix: String, _ suffix: String = "") -> String? {
      guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
        return nil
      }
      let middle = String(name.dropFirst(prefix.count).dropLast(suffix.count))
      return _property(capitalized: middle, among: names.union(_modelled))
    }
    switch parameters.map(\.label) {
    case [nil]:
      if let found = relationship("addTo") { return (found, "add(a0, to: self)") }
      if let found = relationship("removeFrom") { return (found, "remove(a0, from: self)") }
      // The Objective-C names, as in code written before Swift 3.
      if let found = relationship("add", "Object") ?? relationship("add") {
        return (found, "add(a0, to: self)")
      }
      if let found = relationship("remove", "Object") ?? relationship("remove") {
        return (found, "remove(a0, from: self)")
      }
    case ["at"]:
      if let found = relationship("removeFrom") { return (found, "remove(at: a0, from: self)") }
    case [nil, "at"]:
      if let found = relationship("insertInto") { return (found, "insert(a0, into: self, at: a1)") }
    case ["at", "with"]:
      if let found = relationship("replace") { return (found, "replace(at: a0, in: self, with: a1)") }
    default: break
    }
    return nil
  }

  // MARK: Names

  private mutating func _mangled(_ type: TypeSyntax, _ declaration: ManagedDeclaration) -> MangledType? {
    if let mangled = _catalogue.mangled(type, in: declaration.context) { return mangled }
    _report(
      declaration,
      "the type '\(type)' of '\(declaration.name)' is in none of the sources at hand: neither this module's nor those of "
        + "the modules it depends on. Generic types, and classes joined with protocols, cannot be managed properties here"
    )
    return nil
  }

  private mutating func _report(_ declaration: ManagedDeclaration, _ message: String) {
    problems.append(
      SourceProblem(
        file: declaration.file, line: declaration.line, column: declaration.column, message: message))
  }

  private func _isPrivate(_ nominal: MangledNominal) -> Bool {
    nominal.name.discriminator != nil || nominal.parent.map(_isPrivate) ?? false
  }

  private func _keyword(_ access: SwiftAccess) -> String {
    switch access {
    case .open, .public: "public "
    case .package: "package "
    case .internal, .fileprivate, .private: ""
    }
  }
}
