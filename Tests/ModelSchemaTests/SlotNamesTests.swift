import Testing

@testable import CoreDataModelSchema

/// Finding slots by property names.
struct SlotNamesTests {
  @Test func `names of all lengths are found`() {
    // Many names, so that places collide.
    let names = (1..<40).flatMap { length in
      ["a", "b"].map { String(repeating: $0, count: length) + "x" }
    }
    let slots = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    let table = SlotNames(slots)
    for (name, slot) in slots { #expect(table[name] == slot) }
  }

  @Test func `names that differ in the middle only are kept apart`() {
    let names = ["customerBillingAddressLine", "customerShipping_AddressLine", "customerInvoiceAddressLine"]
    let table = SlotNames(Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) }))
    for (slot, name) in names.enumerated() { #expect(table[name] == slot) }
    #expect(table["customerPackageAddressLine"] == nil)
  }

  @Test func `other names are not found`() {
    let table = SlotNames(["title": 0, "pages": 1])
    for name in ["", "t", "titl", "titles", "Title", "PAGES", "a name that no entity has"] {
      #expect(table[name] == nil)
    }
    #expect(SlotNames([:])["title"] == nil)
  }

  @Test func `a name in another normalization is the same name`() {
    let table = SlotNames(["größe": 3])
    #expect(table["gr\u{F6}\u{DF}e"] == 3)
    #expect(table["gro\u{308}\u{DF}e"] == 3)
  }
}
