import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Reads a model file like `init(contentsOf:)`, but throws the reason for a failure.
  ///
  /// ```swift
  /// guard let url = Bundle.main.url(forResource: "Library", withExtension: "momd") else { return }
  /// do {
  ///   let model = try NSManagedObjectModel.load(contentsOf: url)
  /// } catch {
  ///   print("The model cannot be read: \(error)")
  /// }
  /// ```
  ///
  /// - Throws: An error with the file, the location in it and the problem.
  ///
  /// > Note: Not in Apple's Core Data.
  public static func load(contentsOf url: URL) throws -> NSManagedObjectModel {
    try NSManagedObjectModel(fileAt: url)
  }

  convenience init(fileAt url: URL) throws {
    let file = try Self._read(url)
    if let layout = file.layout {
      try self.init(schema: layout.schema, laidOut: layout)
    } else {
      try self.init(schema: file.schema)
      if let ownLayout { file.layOut(ownLayout) }
    }
    _findModules(at: url)
    localizationDictionary = ModelLocalization.strings(forModelAt: url)
    if ["mom", "momd"].contains(url.pathExtension.lowercased()) { evaluationGates = EvaluationGates() }
  }

  /// Finds the module of the classes that a model which was not compiled for one says are of its own: the one
  /// in whose resource bundle it is, if that has the class.
  private func _findModules(at url: URL) {
    let own = entities.filter { $0.module == nil && $0.explicitClassName?.hasPrefix(".") ?? false }
    guard !own.isEmpty else { return }
    var place = url.standardizedFileURL
    while !["resources", "bundle"].contains(place.pathExtension) {
      guard place.pathComponents.count > 1 else { return }
      place.deleteLastPathComponent()
    }
    // The longest first: a target's name may contain underscores.
    let modules = ResourceBundleOrder.modules(of: place).sorted { $0.count > $1.count }
    for entity in own {
      guard let name = entity.explicitClassName?.dropFirst() else { continue }
      entity.module = modules.first { EntityClass.exists(named: String(name), in: $0) }
    }
  }

  private static func _read(_ url: URL) throws -> ReadModelFile {
    guard url.isFileURL else {
      throw ModelFileError(
        path: url.absoluteString, reason: "only files can be read; copy the model to a file first")
    }
    let file = try ModelFile.read(path: url.path)
    for remark in file.remarks {
      Console.warnOnce(about: "\(file.path):\(remark)", "\(file.path):\(remark.line): \(remark.message).")
    }
    return file
  }
}
