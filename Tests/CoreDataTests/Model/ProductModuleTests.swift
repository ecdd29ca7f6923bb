import CoreDataModelFiles
import Foundation
import Testing

@testable import CoreData

/// A class that models name as one of the current product module.
final class ModuleBook: NSManagedObject {}

@Suite("Classes of the current product module")
final class ProductModuleTests {
  private let _root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

  deinit { try? FileManager.default.removeItem(at: _root) }

  /// Writes the source of a model with a class, and returns its place.
  private func _source(_ className: String = ".ModuleBook", in directory: String = "Sources") throws -> URL {
    let url = _root.appendingPathComponent("\(directory)/Books.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let text = """
      <model><entity name="Book" representedClassName="\(className)"><attribute name="title" \
      attributeType="String" optional="YES"/></entity></model>
      """
    try Data(text.utf8).write(to: url.appendingPathComponent("contents"))
    return url
  }

  private func _compiled(for module: String?) throws -> NSManagedObjectModel {
    let file = try #require(try CompiledModelFile.files(of: _source().path, module: module).first)
    let url = _root.appendingPathComponent(file.name)
    try file.data.write(to: url)
    return try NSManagedObjectModel.load(contentsOf: url)
  }

  private func _class(in model: NSManagedObjectModel) throws -> NSManagedObject.Type {
    let stack = try TestStack(.sqlite, model: model)
    return stack.root.performAndWait { type(of: stack.root.insert("Book")) }
  }

  @Test func `a model that is compiled for a module names it`() throws {
    let model = try _compiled(for: "CoreDataTests")
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == "CoreDataTests.ModuleBook")
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == NSStringFromClass(ModuleBook.self))
    #expect(try _class(in: model) == ModuleBook.self)
  }

  @Test func `a class that its module does not have is searched in the others`() throws {
    let model = try _compiled(for: "SomeApp")
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == "SomeApp.ModuleBook")
    #expect(try _class(in: model) == ModuleBook.self)
    let plain = try NSManagedObjectModel.load(contentsOf: _source("SomeApp.ModuleBook"))
    #expect(plain.entitiesByName["Book"]?.managedObjectClassName == "SomeApp.ModuleBook")
    #expect(try _class(in: plain) == ModuleBook.self)
  }

  @Test func `a model that is compiled for no module names none`() throws {
    let model = try _compiled(for: nil)
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == ".ModuleBook")
    #expect(try _class(in: model) == ModuleBook.self)
  }

  @Test func `the source of a model in the resource bundle of a module is of that module`() throws {
    let url = try _source(in: "Some_Package_CoreDataTests.resources/Models")
    let entity = try #require(NSManagedObjectModel.load(contentsOf: url).entitiesByName["Book"])
    #expect(entity.managedObjectClassName == "CoreDataTests.ModuleBook")
    let copy = entity.copy() as? NSEntityDescription
    #expect(copy?.managedObjectClassName == "CoreDataTests.ModuleBook")
  }

  @Test func `the source of a model elsewhere, or beside a module without the class, names none`() throws {
    let places = ["Sources", "Package_CoreDataStacksTests.resources", "Package_NoModule.resources"]
    for place in places {
      let model = try NSManagedObjectModel.load(contentsOf: _source(in: place))
      #expect(model.entitiesByName["Book"]?.managedObjectClassName == ".ModuleBook")
    }
  }

  @Test(arguments: ["CoreDataTests", "SomeApp", nil])
  func `a model of a module is written back as its source`(_ module: String?) throws {
    let model = try _compiled(for: module)
    let url = _root.appendingPathComponent("Written.xcdatamodel")
    try model.write(to: url)
    let text = try String(contentsOf: url.appendingPathComponent("contents"), encoding: .utf8)
    #expect(text.contains("representedClassName=\".ModuleBook\""))
  }

  @Test func `the module does not change the version hashes`() throws {
    #expect(
      try _compiled(for: "SomeApp").entityVersionHashesByName
        == _compiled(for: nil).entityVersionHashesByName)
  }

  @Test func `a class that is set replaces that of the module`() throws {
    let model = try _compiled(for: "SomeApp")
    model.entitiesByName["Book"]?.managedObjectClassName = "CoreDataTests.ModuleBook"
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == "CoreDataTests.ModuleBook")
    model.entitiesByName["Book"]?.managedObjectClassName = nil
    #expect(model.entitiesByName["Book"]?.managedObjectClassName == "NSManagedObject")
  }
}
