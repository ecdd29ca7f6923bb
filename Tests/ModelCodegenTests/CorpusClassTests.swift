import CoreDataModelFiles
import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataModelCodegen

/// Classes for real models. `CODEGEN_ALL_MODELS=1` in the environment tests all of them instead of a sample.
@Suite struct CorpusClassTests {
  private static let root: URL? = {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let corpus = package.appendingPathComponent("../shared/corpus/models").standardizedFileURL
    return FileManager.default.fileExists(atPath: corpus.path) ? corpus : nil
  }()

  private static let models: [URL] = {
    guard let root else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    let all = names.filter { $0.hasSuffix(".xml") }.sorted().map { root.appendingPathComponent($0) }
    if ProcessInfo.processInfo.environment["CODEGEN_ALL_MODELS"] != nil { return all }
    return stride(from: 0, to: all.count, by: max(1, all.count / 10)).map { all[$0] }
  }()

  /// Returns stubs for the classes that transformable attributes name and that are not in the model.
  private static func customClasses(_ schema: ModelSchema) -> String {
    let names = schema.entities.flatMap(\.attributes).compactMap(\.customClassName)
      .filter {
        SwiftName.isIdentifier($0) && KnownTypes.nominal[$0] == nil && KnownTypes.standard[$0] == nil
      }
    return Set(names).sorted().map { "public class \($0): NSObject {}\n" }.joined()
  }

  @Test(.enabled(if: Toolchain.isAvailable && root != nil))
  func `Generated classes of real models compile`() throws {
    try Toolchain.withDirectory { directory in
      let stub = try Toolchain.makeCoreData(in: directory)
      try #require(stub.status == 0, "\(stub.output)")
      for model in Self.models {
        var schema = try ModelFile.load(path: model.path)
        for index in schema.entities.indices { schema.entities[index].codeGeneration = .class }
        for style in [ClassStyle.slots, .annotated] {
          let text: String
          switch style {
          case .slots:
            text = try ModelCodegen.classes(of: schema, name: model.lastPathComponent).text
            let properties = text.split(separator: "\n").count { $0.contains("get { ") }
            #expect(text.split(separator: "\n").count { $0.contains("set { ") } == properties)
          case .annotated:
            text = try ModelCodegen.files(of: schema, style: .annotated).map(\.text).joined()
          }
          let file = directory.appendingPathComponent("Classes.swift")
          try (text + "\n" + Self.customClasses(schema)).write(to: file, atomically: true, encoding: .utf8)
          let result = try Toolchain.run(
            Toolchain.swiftc!,
            [
              "-swift-version", "6", "-I", ".", "-parse-as-library", "-module-name", "Classes", "-typecheck",
              "-warnings-as-errors", "Classes.swift",
            ], in: directory)
          #expect(result.status == 0, "\(model.lastPathComponent) (\(style)):\n\(result.output.prefix(2000))")
        }
      }
    }
  }
}
