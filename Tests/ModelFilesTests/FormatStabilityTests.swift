import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreDataModelFiles

/// Writing a model as XML is lossless, and writing it again produces the same file.
@Suite("Formatting real models", .enabled(if: SharedCorpus.root != nil))
struct FormatStabilityTests {
  /// Every XML model of the corpus, including those in stores, and every compiled one.
  private static let paths: [String] = SharedCorpus.models + SharedCorpus.compiledModels

  @Test(arguments: paths)
  func `A model written and read again is the same`(path: String) throws {
    let file = SharedCorpus.root!.appendingPathComponent(path).path
    let schema = try ModelFile.load(path: file)
    let text = try ModelContentsWriter.write(schema, path: path)
    let again = try ModelContentsReader.read(Data(text.utf8), path: path)
    #expect(again == schema.canonical())
    #expect(again.entityVersionHashes() == schema.entityVersionHashes())
    #expect(try ModelContentsWriter.write(again, path: path) == text)
  }

  @Test func `The corpus is all there`() {
    #expect(SharedCorpus.models.count >= 84)
    #expect(SharedCorpus.compiledModels.count >= 7)
  }

  @Test func `Order in the file does not matter`() throws {
    let one = """
      <model><entity name="B"><attribute name="b" attributeType="String"/><attribute name="a" attributeType="String"/></entity>
      <entity name="A"/><configuration name="Z"><memberEntity name="B"/><memberEntity name="A"/></configuration></model>
      """
    let other = """
      <model><configuration name="Z"><memberEntity name="A"/><memberEntity name="B"/></configuration><entity name="A"/>
      <entity name="B"><attribute name="a" attributeType="String"/><attribute name="b" attributeType="String"/></entity></model>
      """
    func written(_ xml: String) throws -> String {
      try ModelContentsWriter.write(ModelContentsReader.read(Data(xml.utf8), path: "contents"))
    }
    #expect(try written(one) == written(other))
  }

  @Test func `An optimised copy is read by way of the model beside it`() throws {
    let directory = SharedCorpus.root!.appendingPathComponent(
      "compiled/coredataplus/SampleModel/SampleModel.momd"
    ).path
    let optimised = try ModelFile.load(path: "\(directory)/SampleModel.omo")
    #expect(optimised == (try ModelFile.load(path: "\(directory)/SampleModel.mom")))
  }

  @Test func `An optimised copy alone says what to load instead`() throws {
    let source = SharedCorpus.root!.appendingPathComponent(
      "compiled/coredataplus/SampleModel/SampleModel.momd/SampleModel.omo")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).omo")
    try FileManager.default.copyItem(at: source, to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let error = #expect(throws: ModelFileError.self) { try ModelFile.load(path: file.path) }
    #expect(error?.reason.contains("load the .mom of the same name") == true)
  }
}
