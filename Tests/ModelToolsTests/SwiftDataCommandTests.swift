import Foundation
import Testing

@testable import CoreDataModelTools

@Suite struct SwiftDataCommandTests {
  private func _model(_ scratch: Scratch, versions: [String: String]) throws -> String {
    for (name, attributes) in versions {
      let directory = scratch.url.appendingPathComponent("Books.xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      _ = try scratch.file(
        "Books.xcdatamodeld/\(name).xcdatamodel/contents",
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Book" representedClassName="CDBook" syncable="YES">\(attributes)</entity>
        </model>
        """)
    }
    _ = try scratch.file(
      "Books.xcdatamodeld/.xccurrentversion",
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>Books.xcdatamodel</string></dict></plist>
      """)
    return scratch.url.appendingPathComponent("Books.xcdatamodeld").path
  }

  private static let _title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
  private static let _pages = #"<attribute name="pages" optional="YES" attributeType="Integer 64"/>"#

  @Test func `Classes are named after entities`() throws {
    try Scratch.with { scratch in
      let run = ToolRun.model(["swiftdata", try _model(scratch, versions: ["Books": Self._title])])
      #expect(run.code == .success && run.error.isEmpty)
      #expect(
        run.output.contains(
          "// Book.swift\nimport Foundation\nimport SwiftData\n\n@Model\nfinal class Book {\n"))
    }
  }

  @Test func `Several versions become a plan in order`() throws {
    try Scratch.with { scratch in
      let model = try _model(
        scratch,
        versions: ["Books": Self._title, "Books 2": Self._title + Self._pages, "Books 10": Self._pages])
      let output = scratch.url.appendingPathComponent("out").path
      let run = ToolRun.model(["swiftdata", model, "--output", output])
      #expect(run.output == "4 files written to \(output).\n")
      let third = try String(contentsOfFile: "\(output)/BooksSchemaV3.swift", encoding: .utf8)
      #expect(third.contains("/// Version 'Books 10'."))
      let plan = try String(contentsOfFile: "\(output)/BooksMigrationPlan.swift", encoding: .utf8)
      #expect(plan.contains("[BooksSchemaV1.self, BooksSchemaV2.self, BooksSchemaV3.self]"))
    }
  }

  @Test func `One version is written by itself`() throws {
    try Scratch.with { scratch in
      let model = try _model(scratch, versions: ["Books": Self._title, "Books 2": Self._pages])
      let run = ToolRun.model(["swiftdata", model, "--version", "Books 2"])
      #expect(run.output.contains("var pages: Int?") && !run.output.contains("VersionedSchema"))
      let wrong = ToolRun.model(["swiftdata", model, "--version", "Books 3"])
      #expect(wrong.code == .usage && wrong.error.contains("Did you mean 'Books 2'?"))
    }
  }

  @Test func `Files can be had as JSON`() throws {
    try Scratch.with { scratch in
      let run = ToolRun.model(["swiftdata", try _model(scratch, versions: ["Books": Self._title]), "--json"])
      let files = try #require(try run.json() as? [[String: Any]])
      #expect(files.compactMap { $0["name"] as? String } == ["Book.swift"])
    }
  }
}
