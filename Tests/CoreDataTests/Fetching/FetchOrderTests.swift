import CoreData
import Foundation
import Testing

/// The order that sort descriptors produce, on every kind of store and stack.
@Suite struct FetchOrderTests {
  private func _names(_ stack: TestStack, _ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
    try stack.context.fetch(request).map { $0.text("name") ?? "nil" }
  }

  @Test(arguments: Setting.allCases) func `nil comes first ascending and last descending`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for name in ["b", nil, "a"] as [String?] {
        stack.context.insert("Author").setValue(name, forKey: "name")
      }
    }
    try stack.save()
    try stack.context.performAndWait {
      for (ascending, expected) in [(true, ["nil", "a", "b"]), (false, ["b", "a", "nil"])] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: ascending)]
        try #expect(_names(stack, request) == expected)
      }
    }
  }

  @Test(arguments: Setting.direct) func `selectors order texts`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (age, name) in ["b", "A", "é", "a10", "a9", "B"].enumerated() {
        stack.context.insert("Author", ["name": name, "age": age])
      }
    }
    try stack.save()
    try stack.context.performAndWait {
      let orders = [
        "compare:": ["A", "B", "a10", "a9", "b", "é"],
        "localizedStandardCompare:": ["A", "a9", "a10", "b", "B", "é"],
      ]
      for (selector, expected) in orders {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [
          NSSortDescriptor(key: "name", ascending: true, selector: selector),
          NSSortDescriptor(key: "age", ascending: true),
        ]
        try #expect(_names(stack, request) == expected)
      }
    }
  }
}
