import Foundation
import Testing

@Suite struct ObjectFlagsTests {
  /// Two branches that each add a flag may choose the same bit. Their tests hold until one object has both.
  @Test func `each flag has a bit of its own`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appendingPathComponent("Sources/CoreData/Object/Internal/ObjectFlags.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let bits = text.matches(of: /rawValue: 1 << (\d+)\)/).compactMap { Int($0.1) }
    #expect(bits.count > 25)
    #expect(Set(bits).count == bits.count)
    #expect(bits.allSatisfy { $0 < 32 })
  }
}
