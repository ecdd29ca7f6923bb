import CoreData
import Foundation
import Testing

/// The editing methods of a snapshot, one at a time.
@Suite struct SnapshotEditingTests {
  private let _snapshot = NSDiffableDataSourceSnapshotReference()

  init() {
    _snapshot.appendSections(withIdentifiers: ["A", "B"])
    _snapshot.appendItems(withIdentifiers: ["a1", "a2", "a3"], intoSectionWithIdentifier: "A")
    _snapshot.appendItems(withIdentifiers: ["b1", "b2"], intoSectionWithIdentifier: "B")
  }

  private var _text: String {
    _snapshot.sectionIdentifiers.map { section in
      let items = _snapshot.itemIdentifiersInSection(withIdentifier: section).map { "\($0)" }
      return "\(section): \(items.joined(separator: " "))"
    }.joined(separator: "; ")
  }

  @Test func `items without a section go to the last one`() {
    _snapshot.appendItems(withIdentifiers: ["b3"])
    #expect(_text == "A: a1 a2 a3; B: b1 b2 b3")
  }

  @Test func `items are inserted before another one`() {
    _snapshot.insertItems(withIdentifiers: ["x", "y"], beforeItemWithIdentifier: "a2")
    #expect(_text == "A: a1 x y a2 a3; B: b1 b2")
  }

  @Test func `items are inserted after another one`() {
    _snapshot.insertItems(withIdentifiers: ["x", "y"], afterItemWithIdentifier: "a2")
    #expect(_text == "A: a1 a2 x y a3; B: b1 b2")
  }

  @Test func `items are deleted, and unknown ones ignored`() {
    _snapshot.deleteItems(withIdentifiers: ["a2", "b1", "none"])
    #expect(_text == "A: a1 a3; B: b2")
    #expect(_snapshot.numberOfItems == 3)
  }

  @Test func `an item is in no section once its section is deleted`() {
    #expect(_snapshot.sectionIdentifier(forSectionContainingItemIdentifier: "b1") as? String == "B")
    _snapshot.deleteSections(withIdentifiers: ["B"])
    #expect(_snapshot.sectionIdentifier(forSectionContainingItemIdentifier: "b1") == nil)
    #expect(_snapshot.index(ofItemIdentifier: "b1") == NSNotFound)
    _snapshot.appendItems(withIdentifiers: ["b1"], intoSectionWithIdentifier: "A")
    #expect(_snapshot.sectionIdentifier(forSectionContainingItemIdentifier: "b1") as? String == "A")
  }

  @Test func `all items are deleted with their sections`() {
    _snapshot.deleteAllItems()
    #expect(_snapshot.numberOfItems == 0)
    #expect(_snapshot.numberOfSections == 0)
    #expect(_text.isEmpty)
  }

  @Test(arguments: [("a1", "a3", "A: a2 a1 a3; B: b1 b2"), ("a1", "b2", "A: a2 a3; B: b1 a1 b2")])
  func `an item is moved before another one`(item: String, other: String, expected: String) {
    _snapshot.moveItem(withIdentifier: item, beforeItemWithIdentifier: other)
    #expect(_text == expected)
  }

  @Test(arguments: [("a1", "a3", "A: a2 a3 a1; B: b1 b2"), ("b2", "a1", "A: a1 b2 a2 a3; B: b1")])
  func `an item is moved after another one`(item: String, other: String, expected: String) {
    _snapshot.moveItem(withIdentifier: item, afterItemWithIdentifier: other)
    #expect(_text == expected)
  }

  @Test func `sections are inserted before and after another one`() {
    _snapshot.insertSections(withIdentifiers: ["C"], beforeSectionWithIdentifier: "A")
    _snapshot.insertSections(withIdentifiers: ["D"], afterSectionWithIdentifier: "A")
    #expect(_text == "C: ; A: a1 a2 a3; D: ; B: b1 b2")
  }

  @Test func `a section is moved with its items`() {
    _snapshot.moveSection(withIdentifier: "B", beforeSectionWithIdentifier: "A")
    #expect(_text == "B: b1 b2; A: a1 a2 a3")
    _snapshot.moveSection(withIdentifier: "B", afterSectionWithIdentifier: "A")
    #expect(_text == "A: a1 a2 a3; B: b1 b2")
  }

  @Test func `a section is deleted with its items`() {
    _snapshot.deleteSections(withIdentifiers: ["A"])
    #expect(_text == "B: b1 b2")
    #expect(_snapshot.index(ofItemIdentifier: "a1") == NSNotFound)
  }

  @Test func `places are those of the whole list`() {
    #expect(_snapshot.index(ofItemIdentifier: "b1") == 3)
    #expect(_snapshot.index(ofSectionIdentifier: "B") == 1)
    #expect(_snapshot.sectionIdentifier(forSectionContainingItemIdentifier: "b2") as? String == "B")
    #expect(_snapshot.numberOfItems(inSection: "A") == 3)
  }

  @Test func `what is reloaded and reconfigured is kept apart`() {
    _snapshot.reloadItems(withIdentifiers: ["a1"])
    _snapshot.reconfigureItems(withIdentifiers: ["b2"])
    _snapshot.reloadSections(withIdentifiers: ["B"])
    #expect(_snapshot.reloadedItemIdentifiers as? [String] == ["a1"])
    #expect(_snapshot.reconfiguredItemIdentifiers as? [String] == ["b2"])
    #expect(_snapshot.reloadedSectionIdentifiers as? [String] == ["B"])
    #expect(_text == "A: a1 a2 a3; B: b1 b2")
  }

  @Test func `a copy is edited on its own`() throws {
    let copy = try #require(_snapshot.copy() as? NSDiffableDataSourceSnapshotReference)
    copy.deleteAllItems()
    #expect(_snapshot.numberOfItems == 5)
  }
}
