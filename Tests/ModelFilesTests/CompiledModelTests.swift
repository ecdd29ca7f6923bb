import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreDataModelFiles

@Suite("Compiled models", .enabled(if: SharedCorpus.root != nil))
struct CompiledModelTests {
  private static let _momds = [
    "compiled/coredataplus/SampleModel/SampleModel.momd",
    "compiled/coredataplus/SampleModel3/SampleModel3.momd",
  ]

  @Test(arguments: _momds)
  func `have the hashes that their compiler recorded`(momd: String) throws {
    let path = SharedCorpus.root!.appendingPathComponent(momd).path
    let info = try PropertyListSerialization.propertyList(
      from: SharedCorpus.data("\(momd)/VersionInfo.plist"), options: [], format: nil)
    let recorded = (info as! [String: Any])["NSManagedObjectModel_VersionHashes"] as! [String: [String: Data]]
    for version in try ModelVersions(path: path).versions {
      let hashes = try ModelFile.load(path: version.path).entityVersionHashes().mapValues { Data($0) }
      #expect(hashes == recorded[version.name])
    }
  }

  @Test(arguments: _momds)
  func `a directory loads the version that it says is current`(momd: String) throws {
    let path = SharedCorpus.root!.appendingPathComponent(momd).path
    let versions = try ModelVersions(path: path)
    #expect(try ModelFile.load(path: path) == ModelFile.load(path: versions.current.path))
    #expect(versions.current.name == ((momd as NSString).lastPathComponent as NSString).deletingPathExtension)
  }

  @Test func `are the models that they were compiled from`() throws {
    let compiled = try CompiledModelReader.read(SharedCorpus.data("compiled/zeeql/Contacts.mom"), path: "mom")
    let source = try ModelContentsReader.read(
      SharedCorpus.data("models/ZeeQL3__Contacts.xcdatamodel.xml"), path: "xml")
    #expect(compiled.entityVersionHashes() == source.entityVersionHashes())
    #expect(compiled.entities.map(\.name) == source.entities.map(\.name).sorted())
    #expect(compiled.fetchRequests.map(\.predicate) == ["lastName LIKE \"Duck*\""])
    #expect(compiled.fetchRequests.map(\.entity) == ["Person"])
    let addresses = compiled.entities[1].relationships.first { $0.name == "addresses" }
    #expect(addresses?.isOrdered == true)
    #expect(addresses?.maxCount == 20)
    #expect(addresses?.traits.userInfo == ["extraInfo": "doIt"])
  }

  @Test func `constraints, indexes and transformers survive`() throws {
    let path = "compiled/coredataplus/SampleModel/SampleModel.momd/SampleModel2.mom"
    let model = try CompiledModelReader.read(SharedCorpus.data(path), path: path)
    let car = try #require(model.entities.first { $0.name == "Car" })
    #expect(car.uniquenessConstraints.contains(["numberPlate"]))
    let sportCar = try #require(model.entities.first { $0.name == "SportCar" })
    #expect(sportCar.parent == "Car")
    #expect(!sportCar.attributes.contains { $0.name == "numberPlate" })
  }

  @Test func `a damaged archive is refused, wherever the damage is`() throws {
    let data = try SharedCorpus.data("compiled/zeeql/Contacts.mom")
    for position in stride(from: 0, to: data.count, by: 61) {
      for byte in [UInt8(0), 0x41, 0xFF] {
        var damaged = data
        damaged[position] = byte
        // The result is a model or an error, never a trap.
        _ = try? CompiledModelReader.read(damaged, path: "damaged")
      }
    }
    for count in [0, 7, 40, data.count / 2, data.count - 1] {
      #expect(throws: ModelFileError.self) { try CompiledModelReader.read(data.prefix(count), path: "short") }
    }
  }
}
