/// Generates the methods that add, remove and insert members of a to-many, with Xcode's names.
struct ToManyAccessorPrinter {
  let style: ClassStyle

  func print(_ toMany: EntityClass.ToMany, _ entity: EntityClass, in source: inout SourceText) {
    var methods = (toMany.isOrdered ? _ordered(toMany) : []) + _plain(toMany)
    if style == .slots { methods += _sequences(toMany) }
    source.line("// Members of \(toMany.name).")
    source.block("extension \(entity.name)") { source in
      for (index, method) in methods.enumerated() {
        if index > 0 { source.line() }
        _print(method, toMany, key: EntityPrinter.key(toMany.name, entity), in: &source)
      }
    }
  }

  private struct Method {
    /// Objective-C selector of the method; empty if it has none.
    let selector: String
    let signature: String
    /// The call that it makes with the relationship's key.
    let call: String
  }

  private func _print(
    _ method: Method, _ toMany: EntityClass.ToMany, key: String, in source: inout SourceText
  ) {
    let access = toMany.isPublic ? "public " : ""
    switch style {
    case .slots:
      source.block("\(access)func \(method.signature)") { $0.line("\(key).\(method.call)") }
    case .annotated:
      source.line("#if canImport(ObjectiveC)")
      source.line("@objc(\(method.selector))")
      source.line("#endif")
      source.line("@NSManaged \(access)func \(method.signature)")
    }
  }

  private func _plain(_ toMany: EntityClass.ToMany) -> [Method] {
    let (name, member) = (SwiftName.capitalized(toMany.name), toMany.member)
    let set = toMany.isOrdered ? "NSOrderedSet" : "NSSet"
    return [
      Method(
        selector: "add\(name)Object:", signature: "addTo\(name)(_ value: \(member))",
        call: "add(value, to: self)"),
      Method(
        selector: "remove\(name)Object:", signature: "removeFrom\(name)(_ value: \(member))",
        call: "remove(value, from: self)"),
      Method(
        selector: "add\(name):", signature: "addTo\(name)(_ values: \(set))", call: "add(values, to: self)"),
      Method(
        selector: "remove\(name):", signature: "removeFrom\(name)(_ values: \(set))",
        call: "remove(values, from: self)"),
    ]
  }

  /// For `addToBooks([book])`: Foundation's sets cannot be created from array literals here. The method takes
  /// any sequence rather than an array, so that a class may declare the array overload itself, which Swift
  /// then prefers.
  private func _sequences(_ toMany: EntityClass.ToMany) -> [Method] {
    let (name, member) = (SwiftName.capitalized(toMany.name), toMany.member)
    return [
      Method(
        selector: "", signature: "addTo\(name)(_ values: some Sequence<\(member)>)",
        call: "add(values, to: self)"),
      Method(
        selector: "", signature: "removeFrom\(name)(_ values: some Sequence<\(member)>)",
        call: "remove(values, from: self)"),
    ]
  }

  private func _ordered(_ toMany: EntityClass.ToMany) -> [Method] {
    let (name, member) = (SwiftName.capitalized(toMany.name), toMany.member)
    return [
      Method(
        selector: "insertObject:in\(name)AtIndex:",
        signature: "insertInto\(name)(_ value: \(member), at idx: Int)",
        call: "insert(value, into: self, at: idx)"),
      Method(
        selector: "removeObjectFrom\(name)AtIndex:", signature: "removeFrom\(name)(at idx: Int)",
        call: "remove(at: idx, from: self)"),
      Method(
        selector: "insert\(name):atIndexes:",
        signature: "insertInto\(name)(_ values: [\(member)], at indexes: NSIndexSet)",
        call: "insert(values, into: self, at: indexes)"),
      Method(
        selector: "remove\(name)AtIndexes:", signature: "removeFrom\(name)(at indexes: NSIndexSet)",
        call: "remove(at: indexes, from: self)"),
      Method(
        selector: "replaceObjectIn\(name)AtIndex:withObject:",
        signature: "replace\(name)(at idx: Int, with value: \(member))",
        call: "replace(at: idx, in: self, with: value)"),
      Method(
        selector: "replace\(name)AtIndexes:with\(name):",
        signature: "replace\(name)(at indexes: NSIndexSet, with values: [\(member)])",
        call: "replace(at: indexes, in: self, with: values)"),
    ]
  }
}
