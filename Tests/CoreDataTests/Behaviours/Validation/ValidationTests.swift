import CoreData
import Foundation
import Testing

@Suite struct ValidationTests {
  /// Returns a model of one entity with the given properties.
  private func model(_ make: (NSEntityDescription) -> [NSPropertyDescription]) -> NSManagedObjectModel {
    let entity = LibraryModel.entity("Item")
    entity.properties = make(entity)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func attribute(
    _ type: NSAttributeType, _ predicates: [String] = [], _ warnings: [String] = [], isOptional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = LibraryModel.attribute("value", type)
    attribute.isOptional = isOptional
    if !predicates.isEmpty {
      attribute.setValidationPredicates(
        predicates.map { NSPredicate(format: $0) }, withValidationWarnings: warnings)
    }
    return attribute
  }

  /// Returns the error of saving an item with a value, at the level that validates first.
  private func errorOfSaving(_ value: Any?, _ attribute: NSAttributeDescription, _ setting: Setting = .memory)
    throws
    -> CocoaError?
  {
    let stack = try TestStack(setting, model: model { _ in [attribute] })
    return stack.context.performAndWait {
      let item = stack.context.insert("Item")
      item.setValue(value, forKey: "value")
      do {
        try stack.context.save()
        return nil
      } catch {
        #expect(stack.context.hasChanges, "a save that fails loses nothing")
        return error as? CocoaError
      }
    }
  }

  @Test(arguments: Setting.allCases)
  func `nil in a mandatory property is 1570`(_ setting: Setting) throws {
    let error = try #require(
      try errorOfSaving(nil, attribute(.stringAttributeType, isOptional: false), setting))
    #expect(error.code.rawValue == NSValidationMissingMandatoryPropertyError)
    #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "value")
    #expect(error.userInfo[NSValidationObjectErrorKey] is NSManagedObject)
  }

  @Test func `an app can show that a value is missing, and a developer sees where`() throws {
    let error = try #require(try errorOfSaving(nil, attribute(.stringAttributeType, isOptional: false)))
    #expect(error.localizedDescription == "value is a required value.")
    #expect(error.userInfo[NSDebugDescriptionErrorKey] as? String == "Item.value is mandatory but nil.")
  }

  @Test func `optionality is checked before predicates`() throws {
    let error = try errorOfSaving(
      nil, attribute(.stringAttributeType, ["length >= 3"], ["too short"], isOptional: false))
    #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
    try #expect(errorOfSaving(nil, attribute(.stringAttributeType, ["length >= 3"], ["too short"])) == nil)
  }

  @Test(arguments: Setting.allCases)
  func `a failing predicate is 1550 with its warning and value`(_ setting: Setting) throws {
    let error = try #require(
      try errorOfSaving(
        "ab", attribute(.stringAttributeType, ["length >= 3"], ["the name is too short"]), setting))
    #expect(error.code.rawValue == NSManagedObjectValidationError)
    #expect(error.userInfo[NSValidationValueErrorKey] as? String == "ab")
    #expect(error.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
    #expect((error as NSError).localizedDescription == "the name is too short")
  }

  @Test func `predicates see the value itself`() throws {
    let text = {
      attribute(.stringAttributeType, ["length >= 3", "SELF BEGINSWITH 'a'"], ["short", "letter"])
    }
    try #expect(errorOfSaving("abc", text()) == nil)
    try #expect((errorOfSaving("xyz", text()) as NSError?)?.localizedDescription == "letter")
    let number = { attribute(.integer32AttributeType, ["SELF >= 0"], ["negative"]) }
    try #expect(errorOfSaving(0, number()) == nil)
    try #expect((errorOfSaving(-1, number()) as NSError?)?.localizedDescription == "negative")
    let date = { attribute(.dateAttributeType, ["timeIntervalSinceReferenceDate >= 100"], ["early"]) }
    try #expect(errorOfSaving(Date(timeIntervalSinceReferenceDate: 100), date()) == nil)
    try #expect(
      (errorOfSaving(Date(timeIntervalSinceReferenceDate: 99), date()) as NSError?)?.localizedDescription
        == "early")
  }

  @Test(arguments: [
    ("SELF <= 10", 11 as Int32, NSValidationNumberTooLargeError),
    ("SELF >= 1", 0, NSValidationNumberTooSmallError),
  ])
  func `a number as warning is the code`(_ predicate: String, _ value: Int32, _ code: Int) throws {
    let error = try errorOfSaving(value, attribute(.integer32AttributeType, [predicate], ["\(code)"]))
    #expect(error?.code.rawValue == code)
    #expect(error?.userInfo[NSValidationValueErrorKey] as? Int32 == value)
  }

  /// The limits available in the model editor, in the spelling of model files.
  private func limited(_ type: String, _ limits: String) throws -> NSManagedObjectModel {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).xcdatamodel")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Item" syncable="YES">
          <attribute name="value" optional="YES" attributeType="\(type)" \(limits)/>
        </entity>
      </model>
      """
    try Data(text.utf8).write(to: directory.appendingPathComponent("contents"))
    return try #require(NSManagedObjectModel(contentsOf: directory))
  }

  private func codeOfSaving(_ value: Any, _ type: String, _ limits: String) throws -> Int? {
    let stack = try TestStack(.memory, model: try limited(type, limits))
    return stack.context.performAndWait {
      stack.context.insert("Item", ["value": value])
      do {
        try stack.context.save()
        return nil
      } catch {
        return (error as NSError).code
      }
    }
  }

  @Test func `limits of the model editor have codes of their own`() throws {
    let numbers = "minValueString=\"1\" maxValueString=\"10\""
    try #expect(codeOfSaving(11, "Integer 32", numbers) == NSValidationNumberTooLargeError)
    try #expect(codeOfSaving(0, "Integer 32", numbers) == NSValidationNumberTooSmallError)
    try #expect(codeOfSaving(10, "Integer 32", numbers) == nil)
    try #expect(codeOfSaving(10.5, "Double", numbers) == NSValidationNumberTooLargeError)
    let dates = "minDateTimeInterval=\"100\" maxDateTimeInterval=\"200\""
    try #expect(
      codeOfSaving(Date(timeIntervalSinceReferenceDate: 201), "Date", dates) == NSValidationDateTooLateError)
    try #expect(
      codeOfSaving(Date(timeIntervalSinceReferenceDate: 99), "Date", dates) == NSValidationDateTooSoonError)
    for limit in [100, 200] {
      try #expect(codeOfSaving(Date(timeIntervalSinceReferenceDate: Double(limit)), "Date", dates) == nil)
    }
    let lengths = "minValueString=\"2\" maxValueString=\"3\""
    try #expect(codeOfSaving("abcd", "String", lengths) == NSValidationStringTooLongError)
    try #expect(codeOfSaving("a", "String", lengths) == NSValidationStringTooShortError)
    try #expect(codeOfSaving("abc", "String", lengths) == nil)
    try #expect(codeOfSaving("ab", "String", lengths) == nil)
    try #expect(
      codeOfSaving("ab1", "String", "regularExpressionString=\"[a-z]+\"")
        == NSValidationStringPatternMatchingError)
  }

  @Test func `decimal limits are exact`() throws {
    let limits = "minValueString=\"0.1\" maxValueString=\"1234567890123456.12\""
    let fits = try #require(Decimal(string: "1234567890123456.12"))
    let exceeds = try #require(Decimal(string: "1234567890123456.13"))
    try #expect(codeOfSaving(fits, "Decimal", limits) == nil)
    try #expect(codeOfSaving(exceeds, "Decimal", limits) == NSValidationNumberTooLargeError)
    try #expect(codeOfSaving(try #require(Decimal(string: "0.1")), "Decimal", limits) == nil)
  }

  @Test func `float limits count as floats`() throws {
    try #expect(codeOfSaving(Float(0.1), "Float", "maxValueString=\"0.1\"") == nil)
  }

  @Test func `integer limits are exact beyond doubles`() throws {
    let limits = "maxValueString=\"9007199254740992\""
    try #expect(codeOfSaving(Int64(9_007_199_254_740_992), "Integer 64", limits) == nil)
    try #expect(
      codeOfSaving(Int64(9_007_199_254_740_993), "Integer 64", limits) == NSValidationNumberTooLargeError)
  }

  @Test func `limits show as predicates with their codes`() throws {
    let model = try limited("Integer 32", "minValueString=\"1\" maxValueString=\"10\"")
    let attribute = try #require(model.entitiesByName["Item"]?.attributesByName["value"])
    #expect(attribute.validationPredicates.map { $0.evaluate(with: 5) } == [true, true])
    #expect(attribute.validationPredicates.map { $0.evaluate(with: 0) } == [false, true])
    #expect(
      attribute.validationWarnings as? [Int] == [
        NSValidationNumberTooSmallError, NSValidationNumberTooLargeError,
      ])
  }

  @Test(arguments: Setting.allCases)
  func `several failures are one error that lists them`(_ setting: Setting) throws {
    let stack = try TestStack(
      setting,
      model: model { _ in
        ["one", "two"].map { name in
          let attribute = LibraryModel.attribute(name, .stringAttributeType)
          attribute.isOptional = false
          return attribute
        }
      })
    try stack.context.performAndWait {
      let item = stack.context.insert("Item")
      var error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
      #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
      #expect(error?.localizedDescription == "Multiple validation errors occurred.")
      let details = error?.userInfo[NSDebugDescriptionErrorKey] as? String
      #expect(details?.hasPrefix("2 validation errors; the first: Item.") == true)
      item.setValue("x", forKey: "one")
      // A single error is not wrapped.
      error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
      stack.context.insert("Item", ["one": "y"])
      error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
      #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 2)
      for item in stack.context.insertedObjects { item.setValue("z", forKey: "two") }
      try stack.context.save()
    }
  }

  // MARK: Relationships

  private func counted(_ low: Int, _ high: Int, isOptional: Bool) -> NSManagedObjectModel {
    let model = LibraryModel.make()
    let tags = model.entitiesByName["Book"]!.relationshipsByName["tags"]!
    tags.minCount = low
    tags.maxCount = high
    tags.isOptional = isOptional
    return model
  }

  private func codeWithTags(_ count: Int, _ model: NSManagedObjectModel) throws -> Int? {
    let stack = try TestStack(.memory, model: model)
    return stack.context.performAndWait {
      let tags = (0..<count).map { _ in stack.context.insert("Tag") }
      stack.context.insert("Book", ["tags": Set(tags)])
      do {
        try stack.context.save()
        return nil
      } catch {
        return (error as NSError).code
      }
    }
  }

  @Test func `members of a to-many are counted`() throws {
    try #expect(
      codeWithTags(4, counted(2, 3, isOptional: true)) == NSValidationRelationshipExceedsMaximumCountError)
    try #expect(
      codeWithTags(1, counted(2, 3, isOptional: true)) == NSValidationRelationshipLacksMinimumCountError)
    try #expect(codeWithTags(2, counted(2, 3, isOptional: true)) == nil)
    try #expect(codeWithTags(0, counted(2, 3, isOptional: true)) == nil)
    try #expect(
      codeWithTags(0, counted(2, 3, isOptional: false)) == NSValidationRelationshipLacksMinimumCountError)
  }

  @Test func `a mandatory to-many without minimum count may be empty`() throws {
    try #expect(codeWithTags(0, counted(0, 0, isOptional: false)) == nil)
    try #expect(codeWithTags(0, counted(0, 3, isOptional: false)) == nil)
    try #expect(
      codeWithTags(4, counted(0, 3, isOptional: false)) == NSValidationRelationshipExceedsMaximumCountError)
  }

  @Test func `a mandatory to-one may not be nil`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.relationshipsByName["author"]!.isOptional = false
    let stack = try TestStack(.memory, model: model)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "author")
      book.setValue(stack.context.insert("Author"), forKey: "author")
      try stack.context.save()
    }
  }

  @Test(arguments: Setting.allCases)
  func `deny forbids deleting until the others are deleted too`(_ setting: Setting) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.relationshipsByName["books"]!.deleteRule = .denyDeleteRule
    let stack = try TestStack(setting, model: model)
    _ = stack.context.performAndWait {
      stack.context.insert("Author", ["books": Set([stack.context.insert("Book")])])
    }
    try stack.save()
    try stack.context.performAndWait {
      let author = try #require(try stack.context.all("Author").first)
      let direct = #expect(throws: CocoaError.self) { try author.validateForDelete() }
      #expect(direct?.code.rawValue == NSValidationRelationshipDeniedDeleteError)
      stack.context.delete(author)
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationRelationshipDeniedDeleteError)
      stack.context.delete(try #require(author.objects("books").first))
      try stack.context.save()
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    try #expect(stack.fresh { try $0.count("Author") } == 0)
  }

  // MARK: Hooks

  private func hooked(_ setting: Setting = .memory) throws -> TestStack {
    let model = model { _ in [attribute(.stringAttributeType, isOptional: false)] }
    model.entitiesByName["Item"]!.managedObjectClassName = NSStringFromClass(ValidatedItem.self)
    return try TestStack(setting, model: model)
  }

  @Test(arguments: Setting.allCases)
  func `assigning nil to a mandatory attribute fails only when saved`(_ setting: Setting) throws {
    let stack = try hooked(setting)
    stack.context.performAndWait {
      let item = stack.context.insert("Item", ["value": "x"])
      item.setValue(nil, forKey: "value")
      #expect(item.value(forKey: "value") == nil)
      #expect(throws: CocoaError.self) { try item.validateForInsert() }
      #expect(throws: CocoaError.self) { try stack.context.save() }
    }
  }

  @Test func `an error of a hook is passed on unchanged`() throws {
    let stack = try hooked()
    stack.context.performAndWait {
      stack.context.insert("Item", ["value": "forbidden"])
      do {
        try stack.context.save()
        Issue.record("the save should have failed")
      } catch {
        #expect((error as NSError).domain == "Items")
        #expect((error as NSError).code == 77)
      }
    }
  }

  @Test func `a hook may replace the value`() throws {
    let stack = try hooked()
    try stack.context.performAndWait {
      let item = stack.context.insert("Item", ["value": "  padded "])
      try stack.context.save()
      #expect(item.text("value") == "padded")
    }
    try #expect(stack.fresh { try $0.all("Item").first?.text("value") } == "padded")
  }

  @Test func `several errors of a hook are listed with the others`() throws {
    let stack = try hooked()
    stack.context.performAndWait {
      stack.context.insert("Item", ["value": "twice"])
      stack.context.insert("Item")
      let error = #expect(throws: CocoaError.self) { try stack.context.save() }
      #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
      #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 3)
    }
  }

  @Test func `not calling super skips the checks of properties`() throws {
    let stack = try hooked()
    try stack.context.performAndWait {
      let item = try #require(stack.context.insert("Item") as? ValidatedItem)
      item.skips = true
      try stack.context.save()
      #expect(!item.hasChanges)
    }
  }

  @Test func `deleted objects are not checked for values`() throws {
    let stack = try hooked()
    try stack.context.performAndWait {
      let item = stack.context.insert("Item", ["value": "x"])
      try stack.context.save()
      item.setValue(nil, forKey: "value")
      stack.context.delete(item)
      try stack.context.save()
    }
  }

  @Test func `transient attributes are validated`() throws {
    let mark = attribute(.stringAttributeType, ["length >= 3"], ["short mark"])
    mark.isTransient = true
    let error = try errorOfSaving("a", mark)
    #expect((error as NSError?)?.localizedDescription == "short mark")
  }

  @Test(arguments: Setting.direct)
  func `a primitive nil past validation is saved`(_ setting: Setting) throws {
    let model = model { _ in
      [
        attribute(.stringAttributeType, isOptional: false),
        LibraryModel.attribute("other", .stringAttributeType),
      ]
    }
    model.entitiesByName["Item"]!.managedObjectClassName = NSStringFromClass(ForgetfulItem.self)
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      stack.context.insert("Item", ["value": "x"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let item = try #require(try context.all("Item").first)
      #expect(item.value(forKey: "value") == nil)
    }
  }
}
