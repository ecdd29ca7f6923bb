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
    try self.init(schema: Self.schema(contentsOf: url))
    localizationDictionary = ModelLocalization.strings(forModelAt: url)
    if ["mom", "momd"].contains(url.pathExtension.lowercased()) { evaluationGates = EvaluationGates() }
  }

  /// The model file as plain values.
  static func schema(contentsOf url: URL) throws -> ModelSchema {
    guard url.isFileURL else {
      throw ModelFileError(
        path: url.absoluteString, reason: "only files can be read; copy the model to a file first")
    }
    let (schema, remarks, path) = try ModelFile.review(path: url.path, reviews: false)
    for remark in remarks {
      Console.warnOnce(about: "\(path):\(remark)", "\(path):\(remark.line): \(remark.message).")
    }
    return schema
  }
}
