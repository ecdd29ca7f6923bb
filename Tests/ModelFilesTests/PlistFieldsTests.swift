import Testing

@testable import CoreDataModelFiles

/// The fields of an object in a property list.
@Suite struct PlistFieldsTests {
  private func fields(_ count: Int) -> PlistFields {
    var fields = PlistFields()
    for number in 0..<count { fields["field \(number)"] = .integer(Int64(number)) }
    return fields
  }

  @Test(arguments: [1, 32, 33, 500])
  func `each field is found by its name, however many there are`(count: Int) {
    let fields = fields(count)
    for number in 0..<count { #expect(fields["field \(number)"] == .integer(Int64(number))) }
    #expect(fields["field \(count)"] == nil)
    #expect(fields.keys == (0..<count).map { "field \($0)" })
  }

  @Test(arguments: [3, 40])
  func `of two values for one name the later is kept`(count: Int) {
    var fields = fields(count)
    fields["field 1"] = .string("later")
    #expect(fields["field 1"] == .string("later"))
    #expect(fields.count == count)
  }

  @Test func `names that differ in their normal form alone are no failure`() {
    var fields: PlistFields = ["caf\u{e9}": .integer(1), "cafe\u{301}": .integer(2)]
    for number in 0..<60 { fields["field \(number)"] = .integer(Int64(number)) }
    #expect(fields["caf\u{e9}"] != nil)
    #expect(fields["field 59"] == .integer(59))
  }

  @Test func `names that end alike are told apart`() {
    let fields: PlistFields = [
      "A long name": .integer(1), "B long name": .integer(2), "long name": .integer(3),
    ]
    #expect(fields["A long name"] == .integer(1))
    #expect(fields["B long name"] == .integer(2))
    #expect(fields["long name"] == .integer(3))
  }

  @Test func `the order of fields does not matter to equality`() {
    let (one, other): (PlistFields, PlistFields) = (["a": .null, "b": .uid(1)], ["b": .uid(1), "a": .null])
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
    #expect(one != ["a": .null, "b": .uid(2)])
    #expect(one != ["a": .null])
  }
}
