import Foundation
import TestSupport
import Testing

/// The tool of the build plugins, called as the plugins call it.
@Suite struct CodegenToolTests {
  /// Built beside the tests, which depend on it.
  private static let tool = ChildProcess.built("coredata-codegen")

  private func run(_ words: [String], in directory: URL) throws -> (status: Int32, output: String) {
    try Toolchain.run(Self.tool, words, in: directory)
  }

  private func write(_ text: String, _ name: String, in directory: URL) throws -> URL {
    let file = directory.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file
  }

  private func text(_ file: URL) throws -> String {
    String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }

  private static let model =
    "<model><entity name=\"Book\" representedClassName=\"Book\" codeGenerationType=\"class\"/></model>"

  // MARK: adopt, which the command plugin runs with the sources of its targets

  @Test func `adopt shows a diff, and changes files with --write only`() throws {
    try Toolchain.withDirectory { directory in
      let source = "@objc(Book)\nclass Book {}\n"
      let file = try write(source, "Book.swift", in: directory)
      let preview = try run(["adopt", file.path], in: directory)
      #expect(preview.status == 0)
      #expect(preview.output.contains("+#if canImport(ObjectiveC)\n @objc(Book)\n+#endif\n"))
      #expect(
        preview.output.hasSuffix("1 file to be changed (--write does it), 0 places left for a person.\n")
      )
      #expect(try text(file) == source)
      let written = try run(["adopt", "--write", file.path], in: directory)
      #expect(written.status == 0)
      #expect(written.output == "1 file changed, 0 places left for a person.\n")
      #expect(try text(file) == "#if canImport(ObjectiveC)\n@objc(Book)\n#endif\nclass Book {}\n")
      let again = try run(["adopt", "--write", file.path], in: directory)
      #expect(again.output.hasPrefix("0 files changed"))
    }
  }

  @Test func `adopt ends with 2 when something is left for a person`() throws {
    try Toolchain.withDirectory { directory in
      let file = try write("import Combine\n", "A.swift", in: directory)
      let result = try run(["adopt", "--write", file.path], in: directory)
      #expect(result.status == 2)
      #expect(result.output.contains("A.swift:1:8: note: Combine is Apple-only"))
    }
  }

  @Test func `adopt writes a function for autorelease pools, and replaces no file`() throws {
    try Toolchain.withDirectory { directory in
      let file = try write("func f() { autoreleasepool { g() } }\n", "A.swift", in: directory)
      let pools = directory.appendingPathComponent("Pools.swift")
      try #expect(run(["adopt", file.path], in: directory).status == 2)
      try #expect(run(["adopt", "--autoreleasepool", pools.path, file.path], in: directory).status == 0)
      #expect(try text(pools).contains("func autoreleasepool<Result>"))
      try #expect(run(["adopt", "--autoreleasepool", file.path, file.path], in: directory).status == 1)
      #expect(try text(file) == "func f() { autoreleasepool { g() } }\n")
    }
  }

  @Test func `adopt leaves what is no text as it is`() throws {
    try Toolchain.withDirectory { directory in
      let file = directory.appendingPathComponent("Odd.swift")
      try Data([0x40, 0xFF]).write(to: file)
      let result = try run(["adopt", "--write", file.path], in: directory)
      #expect(result.status == 1)
      #expect(result.output.contains("not UTF-8 text"))
      #expect(try Data(contentsOf: file) == Data([0x40, 0xFF]))
    }
  }

  @Test func `A wrong command line ends with 64`() throws {
    try Toolchain.withDirectory { directory in
      try #expect(run([], in: directory).status == 64)
      try #expect(run(["adopt", "--wirte", "x"], in: directory).status == 64)
      try #expect(run(["adopt"], in: directory).status == 64)
      try #expect(run(["classes", "--model"], in: directory).status == 64)
    }
  }

  // MARK: classes and compiled models, which the build plugin asks for

  @Test func `classes and compile take a model from its directory`() throws {
    try Toolchain.withDirectory { directory in
      _ = try write(Self.model, "Library.xcdatamodeld/Library.xcdatamodel/contents", in: directory)
      let output = directory.appendingPathComponent("Classes.swift")
      let classes = try run(
        ["classes", "--model", "Library.xcdatamodeld", "--output", output.path], in: directory)
      #expect(classes.status == 0, "\(classes.output)")
      #expect(try text(output).contains("public class Book: NSManagedObject"))
      let copy = try run(
        ["compile", "--model", "Library.xcdatamodeld/", "--output", "Library.momd"], in: directory)
      #expect(copy.status == 0, "\(copy.output)")
      let bundle = directory.appendingPathComponent("Library.momd")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: bundle.path).sorted()
          == ["Library.mom", "VersionInfo.plist"])
    }
  }

  @Test func `compile writes the module of the target into the model`() throws {
    try Toolchain.withDirectory { directory in
      let model = "<model><entity name=\"Book\" representedClassName=\".Book\"/></model>"
      _ = try write(model, "M.xcdatamodel/contents", in: directory)
      for module in [[], ["--module", "ShopApp"]] {
        let result = try run(
          ["compile", "--model", "M.xcdatamodel", "--output", "M.mom"] + module, in: directory)
        #expect(result.status == 0, "\(result.output)")
        let bytes = try Data(contentsOf: directory.appendingPathComponent("M.mom"))
        #expect((bytes.range(of: Data("ShopApp.Book".utf8)) != nil) == !module.isEmpty)
      }
    }
  }

  @Test(arguments: [
    ("<model><entity name=\"Book\" parentEntity=\"Book\"/></model>", "circle"),
    ("<model><entity name=\"Book\">", "not well-formed"),
    (
      "<model><entity name=\"B\"><relationship name=\"r\" destinationEntity=\"C\"/></entity></model>",
      "'C' is not in the model"
    ),
  ])
  func `A model that is wrong stops the build with its place`(model: String, message: String) throws {
    try Toolchain.withDirectory { directory in
      _ = try write(model, "M.xcdatamodel/contents", in: directory)
      let result = try run(
        ["classes", "--model", "M.xcdatamodel", "--output", "Classes.swift"], in: directory)
      #expect(result.status == 1)
      #expect(result.output.contains("M.xcdatamodel") && result.output.contains(message), "\(result.output)")
      #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("Classes.swift").path))
    }
  }

  @Test func `Misspelt parts of any version stop the build, unknown ones are warned of`() throws {
    try Toolchain.withDirectory { directory in
      let text =
        "<model>\n<entity name=\"A\">\n<attribute name=\"a\" 0 attributeType=\"UUID\"/>\n</entity>\n</model>"
      func compile() throws -> (status: Int32, output: String) {
        try run(["compile", "--model", "M.xcdatamodeld", "--output", "M.momd"], in: directory)
      }
      for (name, attribute) in [
        ("M", "defaultValueString=\"empy\" hologram=\"YES\""), ("M 2", "optoinal=\"YES\""),
      ] {
        _ = try write(
          text.replacing("0", with: attribute), "M.xcdatamodeld/\(name).xcdatamodel/contents", in: directory)
      }
      let refused = try compile()
      #expect(refused.status == 1)
      #expect(refused.output.contains("M 2.xcdatamodel/contents:3:"))
      #expect(
        refused.output.contains("error: 'optoinal' is no attribute of 'attribute'; did you mean 'optional'?"))
      _ = try write(
        text.replacing("0", with: "optional=\"YES\""), "M.xcdatamodeld/M 2.xcdatamodel/contents",
        in: directory)
      let accepted = try compile()
      #expect(accepted.status == 0)
      #expect(accepted.output.contains("warning: defaultValueString='empy' is no UUID"))
      #expect(accepted.output.contains("warning: 'hologram' is no attribute of 'attribute'"))
    }
  }
}
