import Foundation
import ModelSchema
import Testing

@testable import CoreData

/// What a context knows of the rows that a child has changed, while others go on saving.
@Suite struct KnownRowsTests {
  @Test(arguments: Setting.direct)
  func aRowIsTheSameForAsLongAsALayerIsTakenOver(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada", "age": 1])
    let base = try #require(ada._row)
    let entry = Layer.Entry(
      kind: .updated, id: ada._objectID, base: base, row: base, changed: SlotSet(), isWhole: false)
    let parent = stack.sibling()
    let known = KnownRows(in: parent)
    let first = try #require(known.row(for: entry, nil, keeping: true))
    try stack.root.performAndWait {
      ada.setValue(2, forKey: "age")
      try stack.root.save()
    }
    let again = try #require(known.row(for: entry, nil, keeping: true))
    #expect(again === first)
    let later = try #require(KnownRows(in: parent).row(for: entry, nil, keeping: false))
    #expect(later.version > first.version)
  }
}
