import CoreData
import Foundation
import Testing

/// Objects that get their permanent IDs long before they are saved, in contexts that others read from.
@Suite struct EarlyPermanentIDTests {
  /// Inserts an author that a child reads under its temporary ID, changes it under its permanent one, and
  /// returns the names that the child then fetches; the same names must be saved.
  private func names(_ setting: Setting, changing change: (NSManagedObject) -> Void) throws -> [String?] {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.context)
    let names = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      // Reading publishes the unsaved changes, under the temporary ID.
      try #expect(child.performAndWait { try child.count("Author") } == 1)
      try stack.context.obtainPermanentIDs(for: [ada])
      change(ada)
      return try child.performAndWait { try child.all("Author").map { $0.text("name") } }
    }
    try stack.save()
    try stack.fresh { try #expect($0.all("Author").map { $0.text("name") } == names) }
    return names
  }

  @Test(arguments: Setting.allCases)
  func `an object deleted after it got its ID is not saved`(_ setting: Setting) throws {
    try #expect(names(setting) { $0.managedObjectContext?.delete($0) } == [])
  }

  @Test(arguments: Setting.allCases)
  func `an object changed after it got its ID is there once`(_ setting: Setting) throws {
    try #expect(names(setting) { $0.setValue("Grace", forKey: "name") } == ["Grace"])
  }
}
