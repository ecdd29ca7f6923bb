/// Writes a `@Model` class.
enum ModelClassPrinter {
  static func print(_ model: ModelClass, in source: inout SourceText) {
    source.documentation(model.documentation)
    source.line("@Model")
    let inheritance = model.superclass.map { ": \($0)" } ?? ""
    source.block("\(model.isFinal ? "final " : "")class \(model.name)\(inheritance)") { source in
      if !model.uniques.isEmpty {
        source.line("#Unique<\(model.name)>(\(model.uniques.joined(separator: ", ")))")
        source.line()
      }
      if !model.indexes.isEmpty {
        source.line("#Index<\(model.name)>(\(model.indexes.joined(separator: ", ")))")
        source.line()
      }
      for property in model.properties { _print(property, in: &source) }
      if !model.properties.isEmpty { source.line() }
      _printInitializer(model, in: &source)
      for composite in model.composites {
        source.line()
        _print(composite, in: &source)
      }
    }
  }

  private static func _print(_ property: ModelClass.Property, in source: inout SourceText) {
    source.documentation(property.documentation)
    let value = property.value.map { " = \($0)" } ?? ""
    let declaration = "var \(property.name): \(property.type)\(value)"
    guard let attribute = property.attribute else {
      source.line(declaration)
      return
    }
    if attribute.count + declaration.count > 100 {
      source.line(attribute)
      source.line(declaration)
    } else {
      source.line("\(attribute) \(declaration)")
    }
  }

  private static func _printInitializer(_ model: ModelClass, in source: inout SourceText) {
    let own = model.properties.filter(\.needsValue)
    let parameters = (model.inheritedParameters + own).map { "\($0.name): \($0.type)" }.joined(
      separator: ", ")
    let isOverride = model.superclass != nil && own.isEmpty
    source.block("\(isOverride ? "override " : "")init(\(parameters))") { source in
      for property in own { source.line("self.\(property.name) = \(property.name)") }
      if model.superclass != nil {
        let arguments = model.inheritedParameters.map { "\($0.name): \($0.name)" }.joined(separator: ", ")
        source.line("super.init(\(arguments))")
      }
    }
  }

  private static func _print(_ composite: ModelClass.Composite, in source: inout SourceText) {
    source.block("struct \(composite.name): Codable, Hashable") { source in
      for element in composite.elements { source.line("var \(element.name): \(element.type)") }
      for nested in composite.nested {
        source.line()
        _print(nested, in: &source)
      }
    }
  }
}
