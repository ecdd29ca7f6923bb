import CoreData
import Foundation
import Testing

/// Objects that get their permanent IDs long before they are saved, in contexts that others read from.
@Suite struct EarlyPermanentIDTests {
  @Test(arguments: Setting.allCases)
  func anObjectDeletedAfterItGotItsIDIsNotSaved(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.context)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      // A reader has what is unsaved published, under the temporary ID.
      try #expect(child.performAndWait { try child.count("Author") } == 1)
      try stack.context.obtainPermanentIDs(for: [ada])
      stack.context.delete(ada)
      try #expect(child.performAndWait { try child.count("Author") } == 0)
    }
    try stack.save()
    try stack.fresh { try #expect($0.count("Author") == 0) }
  }

  @Test(arguments: Setting.allCases)
  func anObjectChangedAfterItGotItsIDIsThereOnce(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.context)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      try #expect(child.performAndWait { try child.count("Author") } == 1)
      try stack.context.obtainPermanentIDs(for: [ada])
      ada.setValue("Grace", forKey: "name")
      try #expect(child.performAndWait { try child.all("Author").map { $0.text("name") } } == ["Grace"])
    }
    try stack.save()
    try stack.fresh { try #expect($0.all("Author").map { $0.text("name") } == ["Grace"]) }
  }
}
