import CoreDataModelFiles
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

/// Layout of the boxes of large graphs.
@Suite struct GraphPackingTests {
  private static let _sizes = (0..<60).map { number in
    (width: 100 + number * 37 % 300, height: 60 + number * 53 % 400)
  }

  @Test func `no two rectangles overlap`() {
    let packing = GraphPacking(Self._sizes, gap: 20)
    let boxes = zip(packing.places, Self._sizes).map { ($0.x, $0.y, $0.x + $1.width, $0.y + $1.height) }
    for (index, one) in boxes.enumerated() {
      for other in boxes[..<index] {
        #expect(one.2 <= other.0 || other.2 <= one.0 || one.3 <= other.1 || other.3 <= one.1)
      }
    }
  }

  @Test func `most of the page is covered`() {
    let packing = GraphPacking(Self._sizes, gap: 0)
    let covered = Self._sizes.reduce(0) { $0 + $1.width * $1.height }
    #expect(covered * 100 > packing.width * packing.height * 75)
  }

  @Test func `the page has a screen's shape`() {
    let packing = GraphPacking(Self._sizes, gap: 20)
    #expect(packing.width > packing.height && packing.width < packing.height * 2)
  }

  @Test func `nothing takes no room`() {
    #expect(GraphPacking([], gap: 20).width == 0)
  }

  @Test func `many small groups do not make a column`() {
    let lines = (0..<20).map { ($0 * 2, $0 * 2 + 1) }
    let layout = GraphLayout(sizes: Array(repeating: (width: 150, height: 200), count: 40), lines: lines)
    #expect(layout.width > layout.height)
    #expect(layout.boxes.allSatisfy { $0.x >= GraphLayout.margin && $0.x + $0.width <= layout.width })
    #expect(layout.boxes.allSatisfy { $0.y >= GraphLayout.margin && $0.y + $0.height <= layout.height })
  }

  @Test func `a drawing says what it shows, and has dark colours`() throws {
    try Scratch.with { scratch in
      let path = try scratch.file("contents", "<model><entity name=\"Book\"/></model>")
      let svg = ToolRun.model(["graph", path, "--format", "svg"]).output
      #expect(svg.contains("role=\"img\""))
      #expect(svg.contains("<title id=\"graph-title\">Data model: 1 entity (Book), 0 relationships</title>"))
      #expect(svg.contains("prefers-color-scheme:dark"))
    }
  }
}
