import Testing

@testable import CoreData

@Suite("Writing a model")
struct ModelWritingTests {
  private func scratch<T>(_ body: (URL) throws -> T) throws -> T {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory)
  }

  @Test(arguments: ["Library.xcdatamodeld", "Library.xcdatamodel", "contents"])
  func `A model built in code is read back the same`(name: String) throws {
    try scratch { directory in
      let sample = SampleLibrary()
      let index = NSFetchIndexDescription(
        name: "byTitle",
        elements: [NSFetchIndexElementDescription(property: sample.title, collationType: .binary)])
      sample.book.indexes = [index]
      sample.book.uniquenessConstraints = [["title"]]
      sample.model.setEntities([sample.book], forConfigurationName: "Books")
      sample.model.versionIdentifiers = ["1.0"]
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
      request.predicate = NSPredicate(format: "pages > $LEAST")
      sample.model.setFetchRequestTemplate(request, forName: "long")
      let url = directory.appendingPathComponent(name)
      try sample.model.write(to: url)
      let again = try NSManagedObjectModel.load(contentsOf: url)
      #expect(again.entityVersionHashesByName == sample.model.entityVersionHashesByName)
      #expect(again.configurations == ["Books"])
      #expect(again.versionIdentifiers == ["1.0"])
      #expect(again.entitiesByName["Book"]?.indexes.map(\.name) == ["byTitle"])
      #expect(again.entitiesByName["Book"]?.attributesByName["pages"]?.defaultValue as? Int == 100)
      let long = again.fetchRequestFromTemplate(withName: "long", substitutionVariables: ["LEAST": 7])
      #expect(long?.predicate == NSPredicate(format: "pages > 7"))
    }
  }

  @Test func `The same model always gives the same bytes`() throws {
    try scratch { directory in
      let (one, other) = (SampleLibrary(), SampleLibrary())
      other.model.entities = other.model.entities.reversed()
      other.book.properties = other.book.properties.reversed()
      let files = ["one", "other"].map { directory.appendingPathComponent($0) }
      try one.model.write(to: files[0])
      try other.model.write(to: files[1])
      #expect(try Data(contentsOf: files[0]) == Data(contentsOf: files[1]))
      try NSManagedObjectModel.load(contentsOf: files[0]).write(to: files[1])
      #expect(try Data(contentsOf: files[0]) == Data(contentsOf: files[1]))
    }
  }

  @Test func `Among several versions the one written is current`() throws {
    try scratch { directory in
      let url = directory.appendingPathComponent("Library.xcdatamodeld")
      let old = url.appendingPathComponent("A first try.xcdatamodel")
      try NSManagedObjectModel().write(to: old)
      try SampleLibrary().model.write(to: url)
      #expect(try NSManagedObjectModel.load(contentsOf: url).entities.count == 3)
      #expect(try NSManagedObjectModel.load(contentsOf: old).entities.isEmpty)
    }
  }

  @Test func `A model that the file cannot hold is an error`() throws {
    try scratch { directory in
      let sample = SampleLibrary()
      sample.title.attributeType = .binaryDataAttributeType
      sample.title.defaultValue = Data([1])
      let url = directory.appendingPathComponent("contents")
      let error = #expect(throws: CocoaError.self) { try sample.model.write(to: url) }
      #expect(error?.localizedDescription.contains("binary default value") == true)
      #expect(!FileManager.default.fileExists(atPath: url.path))
    }
  }

  // MARK: Localised names

  private func localised(_ strings: String, at path: String) throws -> [String: String]? {
    try scratch { directory in
      let url = directory.appendingPathComponent("Library.xcdatamodel")
      try SampleLibrary().model.write(to: url)
      let file = directory.appendingPathComponent(path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(strings.utf8).write(to: file)
      let model = try NSManagedObjectModel.load(contentsOf: url)
      let copy = try #require(model.copy() as? NSManagedObjectModel)
      #expect(copy.localizationDictionary == model.localizationDictionary)
      #expect(
        NSManagedObjectModel(byMerging: [model])?.localizationDictionary == model.localizationDictionary)
      return model.localizationDictionary
    }
  }

  @Test(arguments: [
    "LibraryModel.strings", "Base.lproj/LibraryModel.strings", "en.lproj/LibraryModel.strings",
  ])
  func `The strings beside a model are its localised names`(
    path: String
  ) throws {
    let strings = "/* Names */\n\"Entity/Book\" = \"Buch\";\n\"Property/title/Entity/Book\" = \"Titel\";\n"
    #expect(
      try localised(strings, at: path) == ["Entity/Book": "Buch", "Property/title/Entity/Book": "Titel"])
  }

  @Test func `Without strings there are no localised names`() throws {
    #expect(try localised("\"Entity/Book\" = \"Buch\";", at: "OtherModel.strings") == nil)
    #expect(try localised("{{{", at: "LibraryModel.strings") == nil)
  }

  @Test func `Names that are set stay`() {
    let model = NSManagedObjectModel()
    model.localizationDictionary = ["Entity/A": "B"]
    #expect(model.localizationDictionary == ["Entity/A": "B"])
  }

  // MARK: Finding

  @Test func `The error for a missing model lists those in the bundles`() throws {
    try scratch { directory in
      let root = directory.appendingPathComponent("App_App.resources")
      try SampleLibrary().model.write(to: root.appendingPathComponent("Library.xcdatamodeld"))
      try SampleLibrary().model.write(to: root.appendingPathComponent("Other.xcdatamodel"))
      let bundle = try #require(Bundle(url: root))
      let message = ModelSearch.absence(of: "Libary", in: [bundle])
      #expect(message.contains("no model 'Libary'"))
      #expect(message.contains("App_App.resources has Library.xcdatamodeld, Other.xcdatamodel"))
      let empty = directory.appendingPathComponent("Empty.resources")
      try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
      let none = ModelSearch.absence(of: "Library", in: [try #require(Bundle(url: empty))])
      #expect(none.contains("Empty.resources has none"))
    }
  }

  @Test func `a request in a model is read back with all its settings`() throws {
    try scratch { directory in
      let sample = SampleLibrary()
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
      request.resultType = .managedObjectIDResultType
      (request.fetchLimit, request.fetchBatchSize) = (5, 3)
      request.includesSubentities = false
      request.includesPropertyValues = false
      request.includesPendingChanges = false
      request.returnsObjectsAsFaults = false
      request.returnsDistinctResults = true
      sample.model.setFetchRequestTemplate(request, forName: "all")
      let url = directory.appendingPathComponent("contents")
      try sample.model.write(to: url)
      let again = try #require(
        NSManagedObjectModel.load(contentsOf: url).fetchRequestTemplate(forName: "all"))
      #expect(again.resultType == .managedObjectIDResultType)
      #expect((again.fetchLimit, again.fetchBatchSize) == (5, 3))
      #expect(!again.includesSubentities && !again.includesPropertyValues && !again.includesPendingChanges)
      #expect(!again.returnsObjectsAsFaults && again.returnsDistinctResults)
    }
  }
}
