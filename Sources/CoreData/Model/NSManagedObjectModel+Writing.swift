import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Writes the model in the editable format, which Xcode opens and `init(contentsOf:)` reads.
  ///
  /// Equal models produce equal bytes, regardless of the order of construction.
  ///
  /// ```swift
  /// try model.write(to: URL(fileURLWithPath: "Library.xcdatamodeld"))
  /// ```
  ///
  /// - Parameter url: An `.xcdatamodeld`, whose version of the same name is written and becomes the current
  ///   one, an `.xcdatamodel`, or a file for its `contents`.
  /// - Throws: A Cocoa error with code 134060 for a model without a valid layout, and for contents that the
  ///   format does not support: binary default values, validation predicates that are not limits, control
  ///   characters in names. Errors of the file system.
  ///
  /// > Note: Not in Apple's Core Data.
  public func write(to url: URL) throws {
    guard url.isFileURL else {
      throw CocoaError.coreData(
        NSCoreDataError, "A model is written to a file; \(url.absoluteString) is none.")
    }
    let text: String
    do {
      let schema = ModelSchema(self)
      _ = try ModelLayout(schema)
      text = try ModelContentsWriter.write(schema, path: url.path)
    } catch {
      throw CocoaError.coreData(
        NSCoreDataError, "The model cannot be written: \(error).", [NSURLErrorKey: url])
    }
    var directory = url
    switch url.pathExtension {
    case "xcdatamodeld":
      directory = url.appendingPathComponent(url.deletingPathExtension().lastPathComponent + ".xcdatamodel")
    case "xcdatamodel": break
    default:
      try Data(text.utf8).write(to: url, options: .atomic)
      return
    }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: directory.appendingPathComponent("contents"), options: .atomic)
    guard directory != url else { return }
    let current = ["_XCCurrentVersionName": directory.lastPathComponent]
    try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
      .write(to: url.appendingPathComponent(".xccurrentversion"), options: .atomic)
  }
}
