import Foundation
import Testing

@testable import CoreData

/// Composite attributes, large values in external files, transformable values.
@Suite struct StoredValueTests {
  // MARK: Texts

  @Test(arguments: Setting.allCases)
  func `a text in another normal form is another text`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (composed, decomposed) = ("\u{C9}clair", "E\u{301}clair")
    let author = stack.context.performAndWait { stack.context.insert("Author", ["name": composed]) }
    try stack.save()
    stack.context.performAndWait {
      author.setValue(decomposed, forKey: "name")
      #expect(author.hasPersistentChangedValues)
    }
    try stack.save()
    try stack.fresh { context in
      let stored = try context.all("Author").map { $0.text("name") ?? "" }
      #expect(stored.map { Array($0.utf8) } == [Array(decomposed.utf8)])
    }
  }

  // MARK: Composites

  private func composed() -> NSManagedObjectModel {
    let inner = NSCompositeAttributeDescription()
    inner.name = "point"
    inner.elements = [
      LibraryModel.attribute("x", .doubleAttributeType), LibraryModel.attribute("y", .doubleAttributeType),
    ]
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [
      LibraryModel.attribute("city", .stringAttributeType), inner,
      LibraryModel.attribute("code", .integer32AttributeType),
    ]
    let item = LibraryModel.entity("Item")
    item.properties = [LibraryModel.attribute("city", .stringAttributeType), place]
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  @Test(.ofFiles, arguments: [Setting.sqlite, .nestedOverSQLite])
  func `a composite is a dictionary of its elements`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: composed())
    stack.context.performAndWait {
      let item = stack.context.insert("Item", ["city": "Here"])
      item.setValue(["city": "Oslo", "code": 7, "point": ["x": 1.5]] as [String: Any], forKey: "place")
      #expect(item.value(forKeyPath: "place.city") as? String == "Oslo")
      item.setValue(2.5, forKeyPath: "place.point.y")
      stack.context.insert("Item", ["city": "Empty"])
    }
    try stack.save()
    try stack.fresh { context in
      let items = try context.all("Item", by: "city")
      #expect(items[0].value(forKey: "place") == nil)
      let place = try #require(items[1].value(forKey: "place") as? [String: Any])
      #expect(place["city"] as? String == "Oslo")
      #expect(place["code"] as? Int == 7)
      #expect(place["point"] as? [String: Double] == ["x": 1.5, "y": 2.5])
      let byElement = try context.all(
        "Item", where: NSPredicate(format: "place.city == 'Oslo' AND place.point.x > 1"))
      #expect(byElement == [items[1]])
      items[1].setValue(8, forKeyPath: "place.code")
      try context.save()
    }
    try stack.fresh { context in
      let found = try context.all("Item", where: NSPredicate(format: "place.code == 8"))
      #expect(found.count == 1)
    }
    // Columns are named after the elements only, by type.
    try #expect(
      SQLiteText.columns(of: "ZITEM", at: stack.url) == [
        "Z_PK INTEGER", "Z_ENT INTEGER", "Z_OPT INTEGER", "ZCODE INTEGER", "ZX FLOAT", "ZY FLOAT",
        "ZCITY VARCHAR",
        "ZCITY1 VARCHAR",
      ])
  }

  @Test func `unsaved composites are found by their elements`() throws {
    let stack = try TestStack(.sqlite, model: composed())
    try stack.context.performAndWait {
      let item = stack.context.insert("Item", ["place": ["city": "Oslo"]])
      let found = try stack.context.all("Item", where: NSPredicate(format: "place.city == 'Oslo'"))
      #expect(found == [item])
    }
  }

  @Test func `a memory store refuses composites`() throws {
    #expect(throws: CocoaError.self) { try TestStack(.memory, model: composed()) }
  }

  // MARK: External data

  private func external() throws -> (TestStack, directory: URL) {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    return (
      stack, stack.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
    )
  }

  private func files(in directory: URL) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
  }

  @Test(.ofFiles) func `large data gets a file of its own that goes with the value`() throws {
    let (stack, directory) = try external()
    let large = Data(repeating: 7, count: 300_000)
    let book = try stack.context.performAndWait {
      let book = stack.context.insert("Book", ["title": "large", "cover": large])
      stack.context.insert("Book", ["title": "small", "cover": Data([1, 2, 3])])
      try stack.context.save()
      return book
    }
    let name = try #require(files(in: directory).first)
    #expect(files(in: directory).count == 1)
    #expect(UUID(uuidString: name) != nil)
    try SQLiteText.rows(of: "SELECT hex(ZCOVER) FROM ZPUBLICATION ORDER BY ZTITLE", at: stack.url) { row in
      #expect(
        [("02" + name.utf8.map { String(format: "%02X", $0) }.joined() + "00"), "01010203"].contains(row[0]))
    }
    try stack.fresh { context in
      let books = try context.all("Publication", by: "title")
      #expect(books.map { $0.value(forKey: "cover") as? Data } == [large, Data([1, 2, 3])])
    }
    try stack.context.performAndWait {
      book.setValue("other", forKey: "title")
      try stack.context.save()
      #expect(files(in: directory) == [name], "other changes leave the file alone")
      book.setValue(Data(repeating: 8, count: 200_000), forKey: "cover")
      try stack.context.save()
      #expect(files(in: directory).count == 1)
      #expect(files(in: directory) != [name])
      stack.context.delete(book)
      try stack.context.save()
      #expect(files(in: directory).isEmpty)
    }
  }

  @Test(.ofFiles) func `a save that fails leaves no file behind`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    model.entitiesByName["Book"]!.uniquenessConstraints = [["pages"]]
    let stack = try TestStack(.sqlite, model: model)
    stack.context.performAndWait {
      for _ in 0..<2 {
        stack.context.insert("Book", ["pages": 1, "cover": Data(repeating: 7, count: 300_000)])
      }
      #expect(throws: CocoaError.self) { try stack.context.save() }
    }
    let directory = stack.url.deletingLastPathComponent().appendingPathComponent(
      ".Store_SUPPORT/_EXTERNAL_DATA")
    #expect(files(in: directory).isEmpty)
  }

  // MARK: Transformables

  private func transformable(_ name: String?) throws -> TestStack {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["extra"]!.valueTransformerName = name
    return try TestStack(.sqlite, model: model)
  }

  private func stored(_ stack: TestStack) throws -> [String] {
    var cells: [String] = []
    try SQLiteText.rows(of: "SELECT hex(ZEXTRA) FROM ZPUBLICATION", at: stack.url) { cells.append($0[0]) }
    return cells
  }

  @Test(.ofFiles) func `a transformer that answers nil stores null`() throws {
    let name = NSValueTransformerName("Silent")
    ValueTransformer.setValueTransformer(SilentTransformer(), forName: name)
    let stack = try transformable(name.rawValue)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["extra": "abc"])
      try stack.context.save()
    }
    var cells: [[String]] = []
    try SQLiteText.rows(of: "SELECT ZEXTRA IS NULL FROM ZPUBLICATION", at: stack.url) { cells.append($0) }
    #expect(cells == [["1"]])
    try stack.fresh { try #expect($0.all("Book").first?.value(forKey: "extra") == nil) }
  }

  @Test(.ofFiles) func `a custom transformer is applied on saves and fetches`() throws {
    ValueTransformer.setValueTransformer(BackwardsTransformer(), forName: NSValueTransformerName("Reversing"))
    let stack = try transformable("Reversing")
    try stack.context.performAndWait {
      stack.context.insert("Book", ["extra": "abc"])
      try stack.context.save()
    }
    try #expect(stored(stack) == ["636261"])
    try stack.fresh { context in
      try #expect(context.all("Book").first?.text("extra") == "abc")
      let equal = try context.all("Book", where: NSPredicate(format: "extra == nil"))
      #expect(equal.isEmpty)
    }
  }

  @Test(.ofFiles, arguments: [nil, "NSSecureUnarchiveFromData"])
  func `without one of its own a value is archived`(_ name: String?) throws {
    let stack = try transformable(name)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["extra": ["a": 1]])
      try stack.context.save()
    }
    try #expect(stored(stack)[0].hasPrefix("62706C697374"), "a binary property list")
    try stack.fresh { context in
      try #expect(context.all("Book").first?.value(forKey: "extra") as? [String: Int] == ["a": 1])
    }
  }

  @Test func `comparisons in a fetch go by the stored bytes`() throws {
    ValueTransformer.setValueTransformer(BackwardsTransformer(), forName: NSValueTransformerName("Comparing"))
    let stack = try transformable("Comparing")
    try stack.context.performAndWait {
      // Stored as "ba", "ab", "aa", nothing.
      for text in ["ab", "ba", "aa"] { stack.context.insert("Book", ["title": text, "extra": text]) }
      stack.context.insert("Book", ["title": "none"])
      try stack.context.save()
    }
    try stack.fresh { context in
      func titles(_ format: String, _ arguments: Any...) throws -> [String] {
        try context.all("Book", by: "title", where: NSPredicate(format: format, argumentArray: arguments))
          .compactMap { $0.text("title") }
      }
      try #expect(titles("extra == %@", "ab") == ["ab"])
      try #expect(titles("extra != %@", "ab") == ["aa", "ba"])
      try #expect(titles("extra < %@", "ab") == ["aa", "ba"], "by bytes, not by text")
      try #expect(titles("extra >= %@", "ba") == ["ab", "ba"])
      try #expect(titles("extra IN %@", ["ab", "aa"]) == ["aa", "ab"])
      try #expect(titles("extra IN %@", ["ab"]) == ["ab"])
      try #expect(titles("extra == nil") == ["none"])
      let unsaved = context.insert("Book", ["title": "new", "extra": "ab"])
      try #expect(context.all("Book", where: NSPredicate(format: "extra == %@", "ab")).contains(unsaved))
    }
  }

  @Test func `a transformer must be there when the store is loaded`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["extra"]!.valueTransformerName = "LateTransformer"
    let lines = try model.frozen().missingTransformers
    #expect(lines.count == 1)
    #expect(lines.first?.contains("'LateTransformer' is registered for 'Book.extra'") == true)
    ValueTransformer.setValueTransformer(
      BackwardsTransformer(), forName: NSValueTransformerName("LateTransformer"))
    try #expect(model.frozen().missingTransformers.isEmpty)
  }

  @Test func `a transformer that is missing fails the save`() throws {
    let stack = try transformable("NoSuchTransformer")
    stack.context.performAndWait {
      stack.context.insert("Book", ["extra": "abc"])
      #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(stack.context.hasChanges)
    }
  }

  @Test func `the insecure transformer fails the save`() throws {
    let stack = try transformable("NSKeyedUnarchiveFromData")
    stack.context.performAndWait {
      stack.context.insert("Book", ["extra": "abc"])
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSCoreDataError)
    }
  }
}

/// Stores text backwards.
final class BackwardsTransformer: ValueTransformer, @unchecked Sendable {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data(String($0.reversed()).utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
  }
}

/// Transforms every value into nil.
private final class SilentTransformer: ValueTransformer, @unchecked Sendable {
  override func transformedValue(_ value: Any?) -> Any? { nil }
}
