import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// Details of fetch requests, templates and sort descriptors.
@Suite struct FetchDetailTests {
  private func _authors(_ setting: Setting, _ ages: KeyValuePairs<String, Int>) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (name, age) in ages { stack.context.insert("Author", ["name": name, "age": age]) }
    }
    try stack.save()
    return stack
  }

  // MARK: Identities

  @Test(arguments: Setting.direct) func `temporary identities follow the sorted ones`(_ setting: Setting)
    throws
  {
    let stack = try _authors(setting, ["b": 20, "a": 10, "c": 30])
    try stack.context.performAndWait {
      let saved = try stack.context.all("Author", by: "age").map(\.objectID)
      let new = [5, 25].map { stack.context.insert("Author", ["age": $0]).objectID }
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      request.resultType = .managedObjectIDResultType
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      try #expect(stack.context.fetch(request) == saved + new)
      request.fetchLimit = 4
      try #expect(stack.context.fetch(request) == saved + new.prefix(1))
    }
  }

  @Test(arguments: Setting.direct) func `batched results are sorted with unsaved changes`(_ setting: Setting)
    throws
  {
    let stack = try _authors(setting, ["b": 20, "a": 10])
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "new", "age": 15])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      try #expect(stack.context.fetchBatched(request).map { $0.text("name") } == ["a", "new", "b"])
    }
  }

  // MARK: Templates

  @Test func `a template without a value for its variable traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = LibraryModel.make()
      let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
      template.predicate = NSPredicate(format: "name == $NAME AND age > $AGE")
      model.setFetchRequestTemplate(template, forName: "named")
      _ = model.fetchRequestFromTemplate(withName: "named", substitutionVariables: ["NAME": "x"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("the fetch request template 'named' needs a value for $AGE"))
  }

  private static let _compiledModel: URL? = {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let url = package.appendingPathComponent("../shared/corpus/compiled/zeeql/Contacts.mom")
      .standardizedFileURL
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  @Test(.enabled(if: _compiledModel != nil))
  func `a compiled model's predicates need allowEvaluation`() throws {
    let model = try NSManagedObjectModel.load(contentsOf: Self._compiledModel!)
    let (name, template) = try #require(model.fetchRequestTemplatesByName.first { $0.value.predicate != nil })
    let predicate = try #require(template.predicate)
    let error = #expect(throws: NSPredicate.EvaluationError.self) { try predicate.matches([String: Any]()) }
    #expect(error?.description.contains("evaluation disabled") == true)
    predicate.allowEvaluation()
    try #expect(!predicate.matches([String: Any]()))
    // The template returns the same predicate again, and so does a copy of the model.
    try #expect(model.fetchRequestTemplate(forName: name)?.predicate?.matches([String: Any]()) == false)
  }

  @Test func `evaluating a predicate that is held back traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let predicate = NSPredicate(format: "SELF > 1 AND SELF < 9")
      EvaluationGates().hold(predicate)
      _ = predicate.evaluate(with: 5)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("This predicate has evaluation disabled"))
  }

  @Test func `predicates of other models are free`() throws {
    let model = LibraryModel.make()
    let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
    template.predicate = NSPredicate(format: "SELF > 1")
    model.setFetchRequestTemplate(template, forName: "t")
    #expect(model.fetchRequestTemplate(forName: "t")?.predicate?.evaluate(with: 5) == true)
  }

  @Test func `fetching with a predicate held back needs no permission`() throws {
    let stack = try _authors(.sqlite, ["a": 1, "b": 2])
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "b", "age": 3])
      let predicate = NSPredicate(format: "name == 'b'")
      EvaluationGates().hold(predicate)
      try #expect(stack.context.all("Author", where: predicate).count == 2)
    }
  }

  // MARK: To-many steps

  /// Returns one book with a red and a long-named tag, and one with a tag that is both.
  private func _tagged(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let context = stack.context
      let ann = context.insert("Author", ["name": "Ann"]), bob = context.insert("Author", ["name": "Bob"])
      let tags = ["red", "large", "red large"].map { context.insert("Tag", ["name": $0]) }
      context.insert("Book", ["title": "two", "author": ann, "tags": Set([tags[0], tags[1]])])
      context.insert("Book", ["title": "one", "author": bob, "tags": Set([tags[2]])])
    }
    try stack.save()
    return stack
  }

  @Test(arguments: Setting.direct) func `several anys are not about one member but a subquery is`(
    _ setting: Setting
  )
    throws
  {
    let stack = try _tagged(setting)
    try stack.context.performAndWait {
      func titles(_ format: String) throws -> [String?] {
        try stack.context.all("Book", by: "title", where: NSPredicate(format: format)).map {
          $0.text("title")
        }
      }
      try #expect(
        titles("ANY tags.name CONTAINS 'red' AND ANY tags.name CONTAINS 'large'") == ["one", "two"])
      try #expect(
        titles("SUBQUERY(tags, $t, $t.name CONTAINS 'red' AND $t.name CONTAINS 'large').@count > 0") == [
          "one"
        ])
    }
  }

  @Test(arguments: Setting.direct) func `a path may lead through several to-manys`(_ setting: Setting) throws
  {
    let stack = try _tagged(setting)
    try stack.context.performAndWait {
      let predicate = NSPredicate(format: "ANY books.tags.name == 'large'")
      try #expect(stack.context.all("Author", where: predicate).map { $0.text("name") } == ["Ann"])
    }
  }

  // MARK: Sort descriptors

  @Test(arguments: Setting.direct) func `closures do not sort a fetch`(_ setting: Setting) throws {
    let stack = try _authors(setting, ["a": 1])
    stack.context.performAndWait {
      let descriptors = [
        NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame },
        NSSortDescriptor(keyPath: \KeyedAuthor.name, ascending: true) { _, _ in .orderedSame },
        NSSortDescriptor(keyPath: \KeyedAuthor.age, ascending: true) { _, _ in .orderedSame },
      ]
      for descriptor in descriptors {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [descriptor]
        let error = #expect(throws: CocoaError.self) { try stack.context.fetch(request) }
        #expect(error.map { "\($0)".contains("comparator blocks are not supported") } == true)
      }
    }
  }

  @Test(arguments: Setting.allCases) func `relationships and the object itself sort by primary key`(
    _ setting: Setting
  ) throws {
    let stack = try _authors(setting, [:])
    try stack.context.performAndWait {
      let context = stack.context
      let authors = try (0..<3).map { number in
        let author = context.insert("Author", ["name": "\(number)"])
        try context.save()
        if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
        return author
      }
      for number in [1, 0] { context.insert("Book", ["title": "\(number)", "author": authors[number]]) }
      try context.save()
      if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
      context.insert("Book", ["title": "2", "author": authors[2]])
      context.insert("Book", ["title": "none"])
      func titles(_ key: String) throws -> [String?] {
        try context.all("Book", by: key).map { $0.text("title") }
      }
      try #expect(titles("author") == ["none", "0", "1", "2"])
      try #expect(titles("author.objectID") == ["none", "0", "1", "2"])
      try #expect(titles("self").suffix(2).sorted { $0! < $1! } == ["2", "none"])
    }
  }

  @Test(arguments: Setting.direct) func `uuids and data are ordered by their bytes`(_ setting: Setting) throws
  {
    let stack = try TestStack(setting)
    let ids = ["0F000000", "10000000", "FF000000"].map {
      UUID(uuidString: "\($0)-0000-0000-0000-000000000000")!
    }
    try stack.context.performAndWait {
      for (title, place) in [("b", 1), ("c", 2)] {
        stack.context.insert("Book", ["title": title, "isbn": ids[place], "cover": Data([UInt8(place), 9])])
      }
      try stack.context.save()
      stack.context.insert("Book", ["title": "a", "isbn": ids[0], "cover": Data([0])])
      for key in ["isbn", "cover"] {
        try #expect(stack.context.all("Book", by: key).map { $0.text("title") } == ["a", "b", "c"])
      }
    }
  }

  @Test(arguments: Setting.allCases) func `a sort key that there is not throws`(_ setting: Setting) throws {
    let stack = try _authors(setting, ["a": 1, "b": 2])
    stack.context.performAndWait { () -> Void in
      for key in ["colour", "books.title", "name.length", "mentor.colour"] {
        #expect(throws: CocoaError.self, "\(key)") { try stack.context.all("Author", by: key) }
      }
    }
  }

  @Test func `foundations own order is told from a closures`() {
    func generic<Value: Comparable>(_ keyPath: KeyPath<KeyedAuthor, Value>) -> NSSortDescriptor {
      NSSortDescriptor(keyPath: keyPath, ascending: false)
    }
    for descriptor in [
      NSSortDescriptor(keyPath: \KeyedAuthor.age, ascending: true), generic(\KeyedAuthor.age),
      generic(\KeyedAuthor.born), NSSortDescriptor(keyPath: \String.count, ascending: true),
    ] {
      #expect(NaturalOrder.isThat(of: descriptor))
      #expect(NaturalOrder.isThat(of: descriptor.reversedSortDescriptor as! NSSortDescriptor))
    }
    let own = NSSortDescriptor(keyPath: \KeyedAuthor.age, ascending: true) { _, _ in .orderedSame }
    #expect(!NaturalOrder.isThat(of: own))
    #expect(!NaturalOrder.isThat(of: own.reversedSortDescriptor as! NSSortDescriptor))
  }

  @Test func `key paths to properties that may be nil sort`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = "CoreDataTests.KeyedAuthor"
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      for name in ["b", nil, "a"] as [String?] {
        stack.context.insert("Author", ["age": 1]).setValue(name, forKey: "name")
      }
      try stack.context.save()
      let request = NSFetchRequest<KeyedAuthor>(entityName: "Author")
      request.sortDescriptors = [
        NSSortDescriptor(keyPath: \KeyedAuthor.mentor?.name, ascending: true),
        NSSortDescriptor(keyPath: \KeyedAuthor.age, ascending: true),
        NSSortDescriptor(keyPath: \KeyedAuthor.name, ascending: false),
      ]
      try #expect(stack.context.fetch(request).map(\.name) == ["b", "a", nil])
    }
  }
}

final class KeyedAuthor: NSManagedObject {
  var name: String? { value(forKey: "name") as? String }
  var age: Int16 { value(forKey: "age") as? Int16 ?? 0 }
  var born: Date { Date() }
  var mentor: KeyedAuthor? { value(forKey: "mentor") as? KeyedAuthor }

  @Test func `bytes are ordered one by one`() {
    func holds(_ format: String, _ left: [UInt8], _ right: [UInt8]) -> Bool {
      NSPredicate(format: format, Data(right) as NSData).evaluate(with: Data(left))
    }
    #expect(holds("SELF <= %@", [1, 2], [1, 2]) && holds("SELF >= %@", [1, 2], [1, 2]))
    #expect(!holds("SELF < %@", [1, 2], [1, 2]) && !holds("SELF > %@", [1, 2], [1, 2]))
    #expect(holds("SELF < %@", [1, 2], [1, 3]) && holds("SELF < %@", [1], [1, 0]))
    #expect(holds("SELF > %@", [2], [1, 255]))
  }
}
