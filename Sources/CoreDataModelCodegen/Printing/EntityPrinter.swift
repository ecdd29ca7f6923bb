/// Generates the class of an entity in the same form as Xcode.
struct EntityPrinter {
  let style: ClassStyle

  /// The class itself.
  func printClass(_ entity: EntityClass, in source: inout SourceText) {
    source.documentation(entity.documentation)
    if style == .annotated {
      source.line("#if canImport(ObjectiveC)")
      source.line("@objc(\(entity.name))")
      source.line("#endif")
    }
    source.line("\(entity.isPublic ? "public " : "")class \(entity.name): \(entity.superclass) {}")
  }

  /// Request, properties and to-many accessors, each in an extension.
  func printProperties(_ entity: EntityClass, in source: inout SourceText) {
    source.block("extension \(entity.name)") { source in
      _printFetchRequest(entity, in: &source)
      for property in entity.properties {
        source.line()
        _print(property, entity, in: &source)
      }
    }
    let accessors = ToManyAccessorPrinter(style: style)
    for toMany in entity.toManys {
      source.line()
      accessors.print(toMany, entity, in: &source)
    }
    if entity.isIdentifiable {
      source.line()
      source.line("extension \(entity.name): Identifiable {}")
    }
    if style == .slots { _printKeys(entity, in: &source) }
  }

  private func _printFetchRequest(_ entity: EntityClass, in source: inout SourceText) {
    source.line("/// Creates a request for objects of entity \(_oneLine(entity.entity)).")
    source.block(
      "@nonobjc \(entity.isPublic ? "public " : "")class func fetchRequest() -> NSFetchRequest<\(entity.name)>"
    ) { source in
      source.line("NSFetchRequest<\(entity.name)>(entityName: \(SourceText.literal(entity.entity)))")
    }
  }

  private func _print(_ property: EntityClass.Property, _ entity: EntityClass, in source: inout SourceText) {
    source.documentation(property.documentation)
    let declaration =
      "\(entity.isPublic && property.isPublic ? "public " : "")var \(SwiftName.escaped(property.name)): \(property.type)"
    guard style == .slots else {
      source.line("@NSManaged \(declaration)")
      return
    }
    source.block(declaration) { source in
      let key = Self.key(property.name, entity)
      source.line("get { \(key)[self] }")
      source.line("set { \(key)[self] = newValue }")
    }
  }

  private func _printKeys(_ entity: EntityClass, in source: inout SourceText) {
    guard !entity.properties.isEmpty else { return }
    source.line()
    source.block("private enum \(entity.name)Keys") { source in
      for property in entity.properties {
        source.line(
          "static let \(property.name)Key = ManagedKey<\(property.type)>(\(SourceText.literal(property.name)))"
        )
      }
    }
  }

  /// The name that generated code has for a property's key.
  static func key(_ property: String, _ entity: EntityClass) -> String { "\(entity.name)Keys.\(property)Key" }

  private func _oneLine(_ name: String) -> String {
    String(name.map { $0.isNewline ? " " : $0 })
  }
}
