import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

@Suite struct AdoptCommandTests {
  private static let source = """
    import CoreData

    @objc(Book)
    public class Book: NSManagedObject {
      @NSManaged public var title: String?
      let key = #keyPath(Book.title)
    }

    """
  private static let adopted = """
    import CoreData

    #if canImport(ObjectiveC)
    @objc(Book)
    #endif
    public class Book: NSManagedObject {
      @NSManaged public var title: String?
      let key = "title"
    }

    """

  @Test func `Without --write a diff is shown and nothing changes`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("Sources/Book.swift", Self.source)
      let run = ToolRun.model(["adopt", scratch.url.path])
      #expect(run.code == .success)
      #expect(
        run.output.contains(
          "--- \(path)\n+++ \(path)\n@@ -1,7 +1,9 @@\n import CoreData\n \n+#if canImport(ObjectiveC)\n"))
      #expect(run.output.contains("-  let key = #keyPath(Book.title)\n+  let key = \"title\"\n"))
      #expect(
        run.output.hasSuffix("1 file to be changed (--write does it), 0 places left for a person.\n"))
      #expect(try scratch.text("Sources/Book.swift") == Self.source)
    }
  }

  @Test func `With --write the files change and another run finds nothing`() throws {
    try Scratch.with { scratch in
      _ = try scratch.file("Sources/Book.swift", Self.source)
      _ = try scratch.file("Sources/Plain.swift", "let one = 1\n")
      _ = try scratch.file(".build/Copy.swift", Self.source)
      let run = ToolRun.model(["adopt", scratch.url.path, "--write"])
      #expect(run.code == .success)
      #expect(run.output == "1 file changed, 0 places left for a person.\n")
      #expect(try scratch.text("Sources/Book.swift") == Self.adopted)
      #expect(try scratch.text("Sources/Plain.swift") == "let one = 1\n")
      #expect(try scratch.text(".build/Copy.swift") == Self.source)
      let again = ToolRun.model(["adopt", scratch.url.path, "--write"])
      #expect(again.output == "0 files changed, 0 places left for a person.\n")
    }
  }

  @Test func `Several paths are adopted at once, with remarks that hold for all of them told once`() throws {
    try Scratch.with { scratch in
      let pool = "func f() { autoreleasepool { g() } }\n"
      let one = try scratch.file("Sources/One.swift", pool)
      _ = try scratch.file("Tests/Two.swift", pool)
      _ = try scratch.file("Tests/Book.swift", Self.source)
      let paths = ["Sources", "Tests"].map { scratch.url.appendingPathComponent($0).path }
      let run = ToolRun.model(["adopt"] + paths)
      #expect(run.code == .success)
      #expect(run.output.contains("\(one):1:12: note: there are no autorelease pools"))
      #expect(run.output.hasSuffix("1 file to be changed (--write does it), 1 place left for a person.\n"))
    }
  }

  @Test func `A function for autorelease pools is written to a new file`()
    throws
  {
    try Scratch.with { scratch in
      _ = try scratch.file("Sources/One.swift", "func f() { autoreleasepool { g() } }\n")
      let sources = scratch.url.appendingPathComponent("Sources").path
      let file = sources + "/Pools.swift"
      let run = ToolRun.model(["adopt", sources, "--autoreleasepool", file])
      #expect(run.code == .success)
      #expect(run.output == "0 files to be changed (--write does it), 0 places left for a person.\n")
      #expect(try scratch.text("Sources/Pools.swift").contains("func autoreleasepool<Result>(invoking body:"))
      #expect(ToolRun.model(["adopt", sources]).output.contains("0 places left"))
      #expect(ToolRun.model(["adopt", sources, "--autoreleasepool", file]).code == .cannotCreateOutput)
    }
  }

  @Test func `A target whose manifest lacks the plugin is told of it`() throws {
    try Scratch.with { scratch in
      let manifest = "let package = Package(name: \"P\", targets: [.target(name: \"Lib\")])\n"
      _ = try scratch.file("Package.swift", manifest)
      let path = try scratch.file(
        "Sources/Lib/Book.swift", "import CoreData\nclass Book: NSManagedObject { @NSManaged var a: Int64 }\n"
      )
      let run = ToolRun.model(["adopt", scratch.url.appendingPathComponent("Sources").path])
      #expect(run.output.contains("\(path):2:32: note: the target 'Lib' does not use CoreDataModelPlugin"))
    }
  }

  @Test func `Attributes are taken out when asked`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("Book.swift", "@objc(Book)\nclass Book { @objc func f() {} }\n")
      #expect(ToolRun.model(["adopt", path, "--write", "--attributes", "strip"]).code == .success)
      #expect(try scratch.text("Book.swift") == "class Book { func f() {} }\n")
    }
  }

  @Test func `What takes a person is listed with its place`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("A.swift", "import Combine\nlet s = #selector(f)\n")
      let run = ToolRun.model(["adopt", path, "--write"])
      #expect(run.code == .success)
      #expect(run.output.contains("\(path):1:8: note: Combine is Apple-only"))
      #expect(run.output.contains("\(path):2:9: note: there are no selectors"))
      #expect(run.output.hasSuffix("0 files changed, 2 places left for a person.\n"))
    }
  }

  @Test func `JSON lists files, changes and remarks`() throws {
    try Scratch.with { scratch in
      _ = try scratch.file("Book.swift", Self.source)
      _ = try scratch.file("C.swift", "import Combine\n")
      let report = try #require(
        try ToolRun.model(["adopt", scratch.url.path, "--json"]).json() as? [String: Any])
      #expect(report["changed"] as? Int == 1)
      #expect(report["written"] as? Bool == false)
      let files = try #require(report["files"] as? [[String: Any]])
      #expect(files.map { $0["isChanged"] as? Bool } == [true, false])
      #expect((files[0]["diff"] as? String)?.contains("+#if canImport(ObjectiveC)") == true)
      #expect((files[1]["remarks"] as? [[String: Any]])?.first?["line"] as? Int == 1)
    }
  }

  @Test func `Lines of other systems keep their ends`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("Book.swift", "@objc(Book)\r\nclass Book {}\r\n")
      let preview = ToolRun.model(["adopt", path]).output
      #expect(preview.contains("-@objc(Book)\r\n") == false || preview.contains(" class Book {}\r\n"))
      _ = ToolRun.model(["adopt", path, "--write", "--attributes", "strip"])
      #expect(try scratch.text("Book.swift") == "class Book {}\r\n")
    }
  }

  @Test func `What is no text is left alone, with an error`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("Odd.swift", "")
      try Data([0x40, 0x6F, 0x62, 0x6A, 0x63, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: path))
      let run = ToolRun.model(["adopt", path, "--write"])
      #expect(run.code == .badInput)
      #expect(run.error.contains("not UTF-8"))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 7)
    }
  }

  @Test func `A missing path is an error`() {
    #expect(ToolRun.model(["adopt", "/nowhere/at/all"]).code == .noInput)
  }
}
