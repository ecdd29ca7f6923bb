import Foundation
import Testing

@testable import CoreData

/// The search order of the bundles beside a program.
@Suite struct ResourceBundleOrderTests {
  private func names(_ names: [String], preferred: String? = nil, linked: Set<String> = []) -> [String] {
    let order = ResourceBundleOrder(preferred: preferred, program: "BookShelf", linked: linked)
    return order.sorted(names.map { URL(fileURLWithPath: "/build/\($0).resources") }).map {
      $0.deletingPathExtension().lastPathComponent
    }
  }

  @Test func `the program's own bundle comes before another program's`() {
    #expect(names(["A_Books", "Z_BookShelf"]) == ["Z_BookShelf", "A_Books"])
  }

  @Test func `the asking module's bundle comes before the program's`() {
    #expect(names(["A_BookShelf", "B_Shared"], preferred: "Shared") == ["B_Shared", "A_BookShelf"])
  }

  @Test func `a linked module's bundle comes before a stranger's`() {
    #expect(names(["A_Other", "B_Shared"], linked: ["Shared"]) == ["B_Shared", "A_Other"])
  }

  @Test func `underscores in a package's name do not hide the module`() {
    #expect(names(["A_Other", "My_Own_BookShelf"]) == ["My_Own_BookShelf", "A_Other"])
  }

  @Test func `a target with a hyphen is known by its module`() {
    #expect(names(["A_Other", "B_The-Model"], linked: ["The_Model"]) == ["B_The-Model", "A_Other"])
  }

  @Test func `a name that only ends alike is a stranger's`() {
    #expect(names(["A_MyBookShelf", "B_BookShelf"]) == ["B_BookShelf", "A_MyBookShelf"])
  }
}
