import CoreData
import Foundation
import Testing

/// Descriptions of fetch indexes, and sort descriptors as values.
@Suite struct IndexDescriptionTests {
  private func _index(_ change: (NSFetchIndexDescription) -> Void = { _ in }) -> NSFetchIndexDescription {
    let title = LibraryModel.attribute("title", .stringAttributeType)
    let index = NSFetchIndexDescription(
      name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
    change(index)
    return index
  }

  @Test func `indexes are equal by content`() {
    #expect(_index() == _index())
    #expect(Set([_index(), _index()]).count == 1)
    #expect(_index() != _index { $0.name = "other" })
    #expect(_index() != _index { $0.elements = [] })
    #expect(_index() != _index { $0.partialIndexPredicate = NSPredicate(format: "title != nil") })
    #expect(_index() != _index { $0.elements[0].isAscending = false })
    #expect(_index() != _index { $0.elements[0].collationType = .rTree })
  }

  @Test func `elements are equal by property, collation and direction`() {
    let property = LibraryModel.attribute("title", .stringAttributeType)
    func element(_ type: NSFetchIndexElementType = .binary) -> NSFetchIndexElementDescription {
      NSFetchIndexElementDescription(property: property, collationType: type)
    }
    #expect(element() == element() && Set([element(), element()]).count == 1)
    #expect(element() != element(.rTree))
    let descending = element()
    descending.isAscending = false
    #expect(element() != descending)
  }

  @Test func `an element knows its index, also after it was replaced`() {
    let index = _index()
    let first = index.elements[0]
    #expect(first.indexDescription === index)
    let other = NSFetchIndexElementDescription(
      property: LibraryModel.attribute("pages", .integer32AttributeType), collationType: .binary)
    index.elements = [other]
    #expect(other.indexDescription === index && index.elements.map(\.propertyName) == ["pages"])
  }

  @Test func `sort descriptors are equal by key, direction and comparison`() {
    let byName = NSSortDescriptor(key: "name", ascending: true)
    #expect(byName == NSSortDescriptor(key: "name", ascending: true))
    #expect(Set([byName, NSSortDescriptor(key: "name", ascending: true)]).count == 1)
    #expect(byName != NSSortDescriptor(key: "name", ascending: false))
    #expect(byName != NSSortDescriptor(key: "age", ascending: true))
    #expect(byName.description == "(name, ascending, compare:)")
    #expect(
      (byName.reversedSortDescriptor as? NSSortDescriptor)?.description == "(name, descending, compare:)")
  }
}
