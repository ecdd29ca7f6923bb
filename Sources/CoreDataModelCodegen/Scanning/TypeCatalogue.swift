/// Resolves a name in a source: to a type of the module, of a dependency, or to a well-known one.
struct TypeCatalogue {
  /// Maximum length of a chain of type aliases.
  private static let _aliasLimit = 16

  private let _module: String
  private var _types: [String: [String: ScannedType]] = [:]
  private let _modules: [String]

  /// - Parameters:
  /// - module: The module for which accessors are generated.
  /// - dependencies: Modules whose public types it can name.
  init(module: ScannedModule, dependencies: [ScannedModule]) {
    _module = module.name
    _modules = [module.name] + dependencies.map(\.name)
    for scanned in [module] + dependencies {
      var types: [String: ScannedType] = [:]
      for type in scanned.types where scanned.name == module.name || type.access >= .package {
        types[type.path.joined(separator: ".")] = type
      }
      _types[scanned.name] = types
    }
  }

  /// The type as symbols spell it.
  ///
  /// - Parameter context: Path of the type in which the name is used.
  /// - Returns: Nil for a type that is neither well-known nor in the sources.
  func mangled(_ type: TypeSyntax, in context: [String]) -> MangledType? {
    _mangled(type, context, _module, 0)
  }

  /// The class in which a member is declared.
  func nominal(_ path: [String]) -> MangledNominal? {
    guard case .nominal(let nominal)? = _resolve(path, [], _module, 0) else { return nil }
    return nominal
  }

  private func _mangled(_ type: TypeSyntax, _ context: [String], _ module: String, _ depth: Int)
    -> MangledType?
  {
    func all(_ types: [TypeSyntax]) -> [MangledType]? {
      let mangled = types.compactMap { _mangled($0, context, module, depth) }
      return mangled.count == types.count ? mangled : nil
    }
    switch type {
    case .optional(let wrapped): return _mangled(wrapped, context, module, depth).map(MangledType.optional)
    case .array(let element): return all([element]).map { .generic(.standard("a"), $0) }
    case .dictionary(let key, let value): return all([key, value]).map { .generic(.standard("D"), $0) }
    case .tuple(let elements): return all(elements).map(MangledType.tuple)
    case .existential(let parts):
      guard let parts = all(parts) else { return nil }
      if parts.count == 1, parts[0] == .any || parts[0] == .anyObject { return parts[0] }
      var protocols: [MangledNominal] = []
      for part in parts {
        switch part {
        case .existential(let more): protocols += more
        case .nominal(let nominal) where nominal.kind == .protocol: protocols.append(nominal)
        // A class among protocols is spelled differently.
        default: return nil
        }
      }
      return .existential(protocols)
    case .named(let components):
      let arguments = components.last?.arguments ?? []
      guard components.dropLast().allSatisfy({ $0.arguments.isEmpty }),
        let base = _resolve(components.map(\.name), context, module, depth)
      else { return nil }
      if arguments.isEmpty {
        if case .nominal(let nominal) = base, nominal.kind == .protocol { return .existential([nominal]) }
        return base
      }
      return all(arguments).map { .generic(base, $0) }
    }
  }

  private func _resolve(_ path: [String], _ context: [String], _ module: String, _ depth: Int) -> MangledType?
  {
    guard depth < Self._aliasLimit, !path.isEmpty else { return nil }
    // From the innermost enclosing type outwards, then the module, then its imports.
    for count in stride(from: context.count, through: 0, by: -1) {
      let surroundings = Array(context.prefix(count))
      if let type = _type(surroundings + path, module, depth) { return type }
      if count > 0, let type = _inherited(path, by: surroundings, module, depth) { return type }
    }
    if path.count > 1, _types[path[0]] != nil, let type = _type(Array(path.dropFirst()), path[0], depth) {
      return type
    }
    if let type = _wellKnown(path) { return type }
    for other in _modules where other != module {
      if let type = _type(path, other, depth) { return type }
    }
    return nil
  }

  /// A type that is nested in a superclass.
  private func _inherited(_ path: [String], by type: [String], _ module: String, _ depth: Int) -> MangledType?
  {
    guard depth < Self._aliasLimit,
      case .named(let above)? = _types[module]?[type.joined(separator: ".")]?.inherits,
      case .nominal(let parent)? = _resolve(above.map(\.name), Array(type.dropLast()), module, depth + 1)
    else { return nil }
    return _type(parent.path + path, parent.module, depth + 1)
      ?? _inherited(path, by: parent.path, parent.module, depth + 1)
  }

  /// The type with exactly this path in a module.
  private func _type(_ path: [String], _ module: String, _ depth: Int) -> MangledType? {
    guard let found = _types[module]?[path.joined(separator: ".")] else { return nil }
    switch found.kind {
    case .alias(let target): return _mangled(target, Array(path.dropLast()), module, depth + 1)
    case .nominal(let kind):
      guard !found.isGeneric else { return nil }
      var parent: MangledNominal?
      if path.count > 1 {
        guard case .nominal(let outer)? = _resolve(Array(path.dropLast()), [], module, depth + 1) else {
          return nil
        }
        parent = outer
      }
      var discriminator: String?
      if found.access.isPrivate {
        let file = found.file.split(separator: "/").last.map(String.init) ?? found.file
        discriminator = FileDiscriminator.make(module: module, file: file)
      }
      let name = DeclarationName(found.path[found.path.count - 1], discriminator: discriminator)
      return .nominal(MangledNominal(kind, name, module: module, parent: parent))
    }
  }

  private func _wellKnown(_ path: [String]) -> MangledType? {
    var name = path[0]
    if path.count == 2, ["Swift", "Foundation", "FoundationEssentials", "CoreData"].contains(path[0]) {
      name = path[1]
    } else if path.count > 1 {
      return nil
    }
    name = KnownTypes.aliases[name] ?? name
    if name == "Any" { return .any }
    if name == "AnyObject" { return .anyObject }
    if name == "Void" { return .tuple([]) }
    if let letter = KnownTypes.standard[name] { return .standard(letter) }
    return KnownTypes.nominal[name].map(MangledType.nominal)
  }
}
