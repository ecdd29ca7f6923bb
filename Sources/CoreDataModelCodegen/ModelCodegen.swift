import CoreDataModelSchema

/// How generated classes access their values.
package enum ClassStyle: String, Sendable, CaseIterable {
  /// Computed properties over slots, as the build plugin writes them.
  case slots = "accessors"
  /// `@NSManaged` declarations with guarded `@objc` lines, to be checked in as source: valid on Apple's
  /// platforms, and here with the plugin's accessors.
  case annotated = "managed"
}

/// Writes Swift classes for the entities of a model.
package enum ModelCodegen {
  /// All classes that the build adds, in one file.
  ///
  /// Entities with code generation *class* get their class and its properties, those with *category* only the
  /// properties, and others nothing.
  ///
  /// - Parameters:
  ///   - name: Name of the model, for the header.
  /// - sources: The module's own sources, which determine whether hand-written classes are public.
  /// - Throws: `ModelCodegenError`.
  package static func classes(
    of schema: ModelSchema, name: String, sources: [ManagedAccessors.Source] = []
  ) throws -> GeneratedFile {
    var scanned = ScannedModule(name: "")
    for source in sources { SourceScanner.scan(source.text, file: source.path, into: &scanned) }
    let names = try ClassNames(schema, handWritten: scanned.types)
    var source = _header("Made from \(name) by CoreDataModelPlugin; changes made here are lost.")
    source.line()
    // On a Mac, Xcode generates the classes.
    source.line("#if !canImport(ObjectiveC)")
    let printer = EntityPrinter(style: .slots)
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
      guard entity.codeGeneration != .manual, names.className(of: entity) != nil else { continue }
      let described = try EntityClass(entity, in: names)
      source.line()
      source.line("// MARK: - \(described.name)")
      source.line()
      if entity.codeGeneration == .class {
        printer.printClass(described, in: &source)
        source.line()
      }
      printer.printProperties(described, in: &source)
    }
    source.line()
    source.line("#endif")
    return GeneratedFile(name: "\(_stem(name))+CoreDataClasses.swift", text: source.text)
  }

  /// The classes of all entities as files to check in, two for each as in Xcode.
  ///
  /// - Parameters:
  /// - entities: Names of the entities; nil for all that have a class.
  /// - Throws: `ModelCodegenError`.
  package static func files(
    of schema: ModelSchema, entities: Set<String>? = nil, style: ClassStyle
  ) throws -> [GeneratedFile] {
    let names = try ClassNames(schema)
    if let unknown = entities?.subtracting(schema.entities.map(\.name)).min() {
      let known = schema.entities.map(\.name).sorted().joined(separator: ", ")
      throw ModelCodegenError(
        entity: unknown, reason: "there is no such entity in the model; it has: \(known)")
    }
    let printer = EntityPrinter(style: style)
    var files: [GeneratedFile] = []
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
      guard entities?.contains(entity.name) ?? true, names.className(of: entity) != nil else { continue }
      let described = try EntityClass(entity, in: names)
      var source = _header(nil)
      source.line()
      printer.printClass(described, in: &source)
      files.append(GeneratedFile(name: "\(described.name)+CoreDataClass.swift", text: source.text))
      source = _header(nil)
      source.line()
      printer.printProperties(described, in: &source)
      files.append(GeneratedFile(name: "\(described.name)+CoreDataProperties.swift", text: source.text))
    }
    return files
  }

  private static func _header(_ comment: String?) -> SourceText {
    var source = SourceText()
    if let comment { source.line("// " + String(comment.map { $0.isNewline ? " " : $0 })) }
    source.line("import CoreData")
    source.line("import Foundation")
    return source
  }

  private static func _stem(_ name: String) -> String {
    let last = name.split(separator: "/").last.map(String.init) ?? name
    return last.lastIndex(of: ".").map { String(last[..<$0]) } ?? last
  }
}
