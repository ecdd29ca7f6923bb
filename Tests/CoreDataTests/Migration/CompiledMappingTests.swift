import CoreDataModelFiles
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Mapping models created by Apple's tools.
@Suite("Mapping models by Apple's tools", .enabled(if: AppleCorpus.isThere))
struct CompiledMappingTests {
  private static let sample = AppleCorpus.url.appendingPathComponent("compiled/coredataplus/SampleModel")
  private static let compiled = sample.appendingPathComponent("V2toV3.cdm")

  private static func model(_ name: String) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(contentsOf: sample.appendingPathComponent("SampleModel.momd/\(name).mom"))
  }

  @Test func `A compiled mapping model is read with its expressions`() throws {
    let model = try NSMappingModel.load(contentsOf: Self.compiled)
    #expect(
      model.entityMappings.map(\.name) == [
        "CarToCar", "LuxuryCarToLuxuryCar", "PersonToPerson", "SportCarToSportCar", "Maker",
      ])
    #expect(model.entityMappings.map(\.mappingType.rawValue) == [1, 1, 4, 1, 2])
    let car = try #require(model.entityMappingsByName["CarToCar"])
    #expect(car.entityMigrationPolicyClassName == "REPLACE_AT_RUNTIME.V2to3MakerPolicy")
    let attributes = try #require(car.attributeMappings)
    #expect(attributes.compactMap(\.valueExpression?.description).contains("$source.numberPlate"))
    #expect(car.sourceExpression == MappingExpressions.objects(of: "Car"))
    let (old, new) = (try Self.model("SampleModel2"), try Self.model("SampleModel3"))
    for mapping in model.entityMappings {
      if let name = mapping.sourceEntityName {
        #expect(mapping.sourceEntityVersionHash == old.entityVersionHashesByName[name])
      }
      if let name = mapping.destinationEntityName {
        #expect(mapping.destinationEntityVersionHash == new.entityVersionHashesByName[name])
      }
    }
  }

  @Test func `The mapping model of two versions is found by its hashes`() throws {
    let bundle = try #require(Bundle(path: Self.sample.path))
    let (first, old, new) = (
      try Self.model("SampleModel"), try Self.model("SampleModel2"), try Self.model("SampleModel3")
    )
    #expect(
      NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new)?.entityMappings.count == 5)
    #expect(NSMappingModel(from: [bundle], forSourceModel: first, destinationModel: new) == nil)
    #expect(NSMappingModel(from: [bundle], forSourceModel: new, destinationModel: old) == nil)
  }

  @Test(.ofFiles) func `A compiled mapping model migrates a store from Core Data`() throws {
    let fixture = try MigrationFixture()
    let source = AppleCorpus.url.appendingPathComponent("stores/coredataplus/SampleModel_V2.sqlite")
    try FileManager.default.copyItem(atPath: source.path, toPath: fixture.url.path)
    let (old, new) = (try Self.model("SampleModel2"), try Self.model("SampleModel3"))
    let mapping = try NSMappingModel.load(contentsOf: Self.compiled)
    for entity in mapping.entityMappings where entity.entityMigrationPolicyClassName != nil {
      entity.entityMigrationPolicyClassName = String(reflecting: MakerPolicy.self)
    }
    let copy = fixture.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    let before = try fixture.open(old, options: nil) { context in
      try ["Car", "SportCar", "LuxuryCar", "Person"].map {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
      }
    }
    #expect(before[0] > 100)
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(from: fixture.url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
    try fixture.open(new, at: copy, options: nil) { context in
      let after = try ["Car", "SportCar", "LuxuryCar", "Person"].map {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
      }
      #expect(after == before)
      let cars = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Car"))
      #expect(cars.allSatisfy { $0.value(forKey: "createdBy") is NSManagedObject })
      #expect(cars.contains { $0.value(forKey: "owner") is NSManagedObject })
    }
  }

  @Test(.ofFiles) func `Source and compiled mapping models are equal`() throws {
    let fixture = try MigrationFixture()
    let directory = fixture.url.deletingLastPathComponent()
    try FileManager.default.copyItem(
      at: Self.sample.appendingPathComponent("SampleModel.momd"),
      to: directory.appendingPathComponent("SampleModel.momd"))
    let edited = directory.appendingPathComponent("V2toV3.xcmappingmodel")
    try FileManager.default.createDirectory(at: edited, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: AppleCorpus.url.appendingPathComponent(
        "compiled/xcmappingmodel/CoreDataPlus-V2toV3.xcmappingmodel.xml"),
      to: edited.appendingPathComponent("xcmapping.xml"))
    let (one, other) = (
      try NSMappingModel.load(contentsOf: Self.compiled), try NSMappingModel.load(contentsOf: edited)
    )
    func described(_ model: NSMappingModel) -> [String] {
      model.entityMappings.map { mapping in
        let properties = ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).map {
          property in
          // If the document leaves the choice to the compiler, several functions are equivalent.
          let isGiven = property.valueExpression != nil
          return "\(property.name ?? "") \(isGiven)"
        }
        return "\(mapping.name ?? "") \(mapping.sourceEntityVersionHash?.base64EncodedString() ?? "") "
          + "\(mapping.destinationEntityVersionHash?.base64EncodedString() ?? "") \(properties)"
      }
    }
    #expect(described(one) == described(other))
  }

  @Test(.ofFiles) func `A version that was renamed is found by the editor's archive`() throws {
    let fixture = try MigrationFixture()
    let directory = fixture.url.deletingLastPathComponent()
    try FileManager.default.copyItem(
      at: Self.sample.appendingPathComponent("SampleModel.momd"),
      to: directory.appendingPathComponent("SampleModel.momd"))
    let edited = directory.appendingPathComponent("V2toV3.xcmappingmodel")
    try FileManager.default.createDirectory(at: edited, withIntermediateDirectories: true)
    let text = try String(
      contentsOf: AppleCorpus.url.appendingPathComponent(
        "compiled/xcmappingmodel/CoreDataPlus-V2toV3.xcmappingmodel.xml"), encoding: .utf8)
    try Data(text.replacing("SampleModel2.xcdatamodel", with: "Renamed.xcdatamodel").utf8)
      .write(to: edited.appendingPathComponent("xcmapping.xml"))
    let (given, found) = (
      try NSMappingModel.load(contentsOf: Self.compiled), try NSMappingModel.load(contentsOf: edited)
    )
    #expect(
      found.entityMappings.map(\.sourceEntityVersionHash)
        == given.entityMappings.map(\.sourceEntityVersionHash))
  }

  @Test(
    .ofFiles,
    arguments: [
      ("CoreDataMigrationRevised-Example-Migration2to3ModelMapping", ["Section", "PostToPost"]),
      ("core-data-Moody_5-Moody_6", ["Continent", "CountryToCountry", "MoodToMood"]),
      (
        "iPhoneCoreDataRecipesMigration-MappingModel",
        ["RecipeToRecipe", "Chef", "ImageToImage", "RecipeTypeToRecipeType", "IngredientToIngredient"]
      ),
    ])
  func `Mapping documents of other projects are read`(file: String, names: [String]) throws {
    let path = AppleCorpus.url.appendingPathComponent("compiled/xcmappingmodel/\(file).xcmappingmodel.xml")
      .path
    let schema = try MappingModelFile.load(path: path)
    #expect(schema.entities.map(\.name) == names)
    let versions = try #require(schema.versions)
    // The editor's archives have at least what is mapped.
    #expect(versions.source.isWhole && versions.destination.isWhole)
    #expect(schema.remarks == [])
    for entity in schema.entities {
      if let name = entity.sourceName { #expect(versions.source.properties[name]?.isEmpty == false) }
      if let name = entity.destinationName {
        #expect(versions.destination.properties[name]?.isEmpty == false)
      }
    }
    for case .expression(let text) in schema.entities.flatMap(\.attributes).map(\.source) {
      _ = try NSExpression(parsing: text)
    }
  }

  @Test(
    .ofFiles,
    arguments: [0, 1])
  func `A damaged mapping model gives an error or a partial model`(form: Int) throws {
    let files = [
      Self.compiled,
      AppleCorpus.url.appendingPathComponent(
        "compiled/xcmappingmodel/CoreDataPlus-V2toV3.xcmappingmodel.xml"),
    ]
    let whole = [UInt8](try Data(contentsOf: files[form]))
    var random = SeededRandom(seed: UInt64(form + 1))
    var refused = 0
    for _ in 0..<200 {
      var bytes = whole
      if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
      for _ in 0..<Int.random(in: 1...20, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do {
        let schema = try MappingModelFile.read(Data(bytes), path: "damaged")
        for case .expression(let text) in schema.entities.flatMap({ $0.attributes + $0.relationships }).map(
          \.source)
        {
          _ = try? NSExpression(parsing: text)
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 50)
  }
}

/// Gives each car a separate maker.
final class MakerPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
    maker.setValue("Maker of \(dInstance.value(forKey: "numberPlate") as? String ?? "")", forKey: "name")
    dInstance.setValue(maker, forKey: "createdBy")
  }
}
