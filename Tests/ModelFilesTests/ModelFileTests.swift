import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataModelFiles

@Suite("Finding the model in a file or directory")
final class ModelFileTests {
  private let _root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  deinit { try? FileManager.default.removeItem(at: _root) }

  private func _directory(_ files: [String: String], named name: String = "Library.xcdatamodeld") throws
    -> String
  {
    let root = _root.appendingPathComponent(name)
    for (path, text) in files {
      let url = root.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return root.path
  }

  private func _model(_ entity: String) -> String { "<model><entity name=\"\(entity)\"/></model>" }

  private func _current(_ name: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?><!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN"
    "http://www.apple.com/DTDs/PropertyList-1.0.dtd"><plist version="1.0"><dict><key>_XCCurrentVersionName</key>
    <string>\(name)</string></dict></plist>
    """
  }

  @Test func `the version in .xccurrentversion is current`() throws {
    let path = try _directory([
      "Library.xcdatamodel/contents": _model("One"), "Second try.xcdatamodel/contents": _model("Two"),
      ".xccurrentversion": _current("Second try.xcdatamodel"),
    ])
    #expect(try ModelFile.load(path: path + "/").entities.map(\.name) == ["Two"])
    #expect(try ModelVersions(path: path).versions.map(\.name) == ["Library", "Second try"])
  }

  @Test func `without .xccurrentversion the only version is current`() throws {
    let path = try _directory(["Anything.xcdatamodel/contents": _model("One")])
    #expect(try ModelFile.load(path: path).entities.map(\.name) == ["One"])
  }

  @Test func `an .xcdatamodel and its contents file load alone`() throws {
    let path = try _directory(["V.xcdatamodel/contents": _model("One")])
    #expect(try ModelFile.load(path: "\(path)/V.xcdatamodel").entities.count == 1)
    #expect(try ModelFile.load(path: "\(path)/V.xcdatamodel/contents").entities.count == 1)
  }

  @Test func `a missing current version lists the versions there are`() throws {
    let path = try _directory([
      "A.xcdatamodel/contents": _model("One"), ".xccurrentversion": _current("../../evil.xcdatamodel"),
    ])
    let error = #expect(throws: ModelFileError.self) { try ModelFile.load(path: path) }
    #expect(error?.reason.contains("only: A") == true)
  }

  @Test func `what is not there, or holds no model, is an error`() throws {
    #expect(throws: ModelFileError.self) { try ModelFile.load(path: "/nowhere/Model.momd") }
    let path = try _directory(["readme.txt": "hello"])
    #expect(throws: ModelFileError.self) { try ModelFile.load(path: path) }
  }
}
