import Foundation
import Testing

@testable import CoreDataModelCodegen

/// The example's classes are written by hand, as on Apple's platforms.
@Suite struct ExampleSourceTests {
  private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Examples/BookShelf/Sources/BookShelf")

  private static let guarded = "#if canImport(ObjectiveC)\n@objc(Loan)\n#endif\n"

  @Test func `The class written by hand is Apple's but for @objc`() throws {
    let ours = try String(contentsOf: Self.directory.appendingPathComponent("Loan.swift"), encoding: .utf8)
    #expect(ours.components(separatedBy: Self.guarded).count == 2)
    let apples = ours.replacing(Self.guarded, with: "@objc(Loan)\n")
    // Nothing else in the file depends on the platform: adopting Apple's source gives ours, byte for byte.
    let adoption = SourceAdoption(apples)
    #expect(adoption.adopted == ours)
    #expect(adoption.remarks == [])
    #expect(!ours.replacing(Self.guarded, with: "").contains("#if"))
    #expect(ours.contains("@NSManaged var borrower: String"))
  }

  @Test func `The plugin supplies an accessor per declaration`() throws {
    let sources = try ["Loan.swift", "Chapter.swift"].map { name in
      ManagedAccessors.Source(
        path: name, text: try String(contentsOf: Self.directory.appendingPathComponent(name), encoding: .utf8)
      )
    }
    let names = ["Book", "Author", "Reminder"].map { "public class \($0): NSManagedObject {}" }.joined(
      separator: "\n")
    let generated = ManagedAccessors.generate(
      module: "BookShelf",
      sources: sources + [ManagedAccessors.Source(path: "Generated.swift", text: "import CoreData\n" + names)]
    )
    #expect(generated.problems == [])
    // Seven properties that are read and written, and two methods.
    #expect(generated.text.components(separatedBy: "@_silgen_name(").count - 1 == 16)
  }
}
