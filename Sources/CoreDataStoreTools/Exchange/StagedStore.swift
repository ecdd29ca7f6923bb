import CoreData
import Foundation
import CoreDataSQLiteBinding
import CoreDataToolKit

/// A store created by a command: built in a temporary directory beside its final location, with its log and
/// external data, and moved there when complete. An incomplete one leaves nothing behind.
final class StagedStore {
  /// Path at which to build the store.
  let path: String
  private let _output: String
  private let _replaces: Bool
  private let _directory: String
  /// Set if the store does not become a file: it is copied to a stream when it is complete.
  private let _stream: FileSink?

  /// Examines the final location and creates the directory.
  ///
  /// - Parameters:
  ///   - output: Location of the store; `-` and devices receive its bytes.
  ///   - replaces: Whether an existing store or file may be replaced.
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  init(for output: String, replaces: Bool, _ environment: ToolEnvironment) throws(ToolFailure) {
    _output = output
    _replaces = replaces
    let isStandardOutput = output == OutputFile.standardStream
    let isStream = isStandardOutput ? true : try ExistingOutput(path: output).isSpecial
    if isStream {
      _stream =
        isStandardOutput
        ? FileSink(standardOutputOf: environment) : try FileSink(path: output, replaces: replaces)
    } else {
      _stream = nil
      if !replaces { try Self._expectNothing(at: output) }
    }
    let temporary = FileManager.default.temporaryDirectory.path + "/store.sqlite"
    let directory = UnfinishedPaths.staging(beside: isStream ? temporary : output)
    let error = UnfinishedPaths.shared.create(directory) { mkdir(directory, 0o777) == 0 ? 0 : errno }
    guard error == 0 else {
      UnfinishedPaths.shared.end(directory) {}
      throw FileSink.failure(output, error)
    }
    _directory = directory
    let name = (isStream ? temporary : output).split(separator: "/").last ?? "store.sqlite"
    path = "\(directory)/\(name)"
  }

  deinit {
    let directory = _directory
    UnfinishedPaths.shared.end(directory) { try? FileManager.default.removeItem(atPath: directory) }
  }

  /// The store's name in messages.
  var name: String { _output == OutputFile.standardStream ? "standard output" : _output }

  /// Returns the failure with the store's name instead of its temporary path.
  func naming(_ failure: ToolFailure) -> ToolFailure {
    ToolFailure(failure.code, failure.message.replacing(path, with: name))
  }

  /// Moves the store to its final location.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`; a Cocoa error.
  func finish() throws {
    if FileManager.default.fileExists(atPath: path + "-wal") {
      // The last connection to close folds the log into the file.
      try StoreFileFacts.openForMending(path: path).checkpoint(.truncate)
    }
    if let _stream { return try _copy(to: _stream) }
    if _replaces, DatabaseHead.isDatabase(_output) {
      // Under SQLite's locks, for other programs may have the store open.
      return try StoreFileFacts.copy(path: path, to: _output)
    }
    // Registered until it is moved: a signal leaves either nothing or the complete store there.
    try UnfinishedPaths.shared.end(_directory) { try _move() }
  }

  private func _copy(to sink: FileSink) throws(ToolFailure) {
    guard !FileManager.default.fileExists(atPath: _support(of: path)) else {
      throw ToolFailure(
        .usage,
        "The store keeps large values in files beside it, for which \(name) has no room. Name a file.")
    }
    let file = try InputFile(path: path)
    while let bytes = try file.nextBytes() { try sink.write(bytes: bytes) }
    try sink.finish()
  }

  private func _move() throws(ToolFailure) {
    let (support, final) = (_support(of: path), _support(of: _output))
    let hasSupport = FileManager.default.fileExists(atPath: support)
    // The files first: without them the store would be incomplete.
    if hasSupport {
      if _replaces { try? FileManager.default.removeItem(atPath: final) }
      guard rename(support, final) == 0 else { throw _failure(errno) }
    }
    let target = (try? ExistingOutput(path: _output).target) ?? _output
    let error = FinalName.give(target, to: path, replaces: _replaces)
    guard error == 0 else {
      if hasSupport { rename(final, support) }
      throw error == EEXIST ? ExistingOutput.failure(_output) : _failure(error)
    }
  }

  private func _support(of store: String) -> String {
    (StoreFileFacts.externalDirectory(path: store) as NSString).deletingLastPathComponent
  }

  private func _failure(_ code: Int32) -> ToolFailure {
    FileSink.failure(_output, code)
  }

  /// - Throws: `ToolFailure` if a store's file, log or external data exists.
  private static func _expectNothing(at path: String) throws(ToolFailure) {
    for file in [path, path + "-wal"] { try ExistingOutput(path: file).expectNothing() }
    let directory = (StoreFileFacts.externalDirectory(path: path) as NSString).deletingLastPathComponent
    // Named after the store without its extension: two stores can conflict.
    guard !FileManager.default.fileExists(atPath: directory) else {
      throw ToolFailure(
        .cannotCreateOutput,
        "'\(directory)' holds the external data of another store. Choose another name than '\(path)'.")
    }
  }
}
