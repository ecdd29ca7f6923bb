import CoreDataModelFiles
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

/// Every command on real models and real stores.
@Suite struct CorpusCommandTests {
  private static let root: URL? = {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let corpus = package.appendingPathComponent("../shared/corpus").standardizedFileURL
    return FileManager.default.fileExists(atPath: corpus.path) ? corpus : nil
  }()

  private static func files(_ isWanted: (String) -> Bool) -> [String] {
    guard let root else { return [] }
    return (FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? [])
      .filter(isWanted).sorted().map { root.appendingPathComponent($0).path }
  }

  private static let models = files { $0.hasSuffix(".xcdatamodel.xml") || $0.hasSuffix(".mom") }
  private static let stores = files { path in
    path.hasPrefix("stores/")
      && [".sqlite", ".wiredatabase", ".moody", ".storedata", ".db"].contains { path.hasSuffix($0) }
  }

  @Test(.enabled(if: root != nil))
  func `Every command takes every model, as text and as JSON`() throws {
    for model in Self.models {
      for words in [["show"], ["format"], ["graph"]] {
        let text = ToolRun.model(words + [model])
        #expect(text.code == .success && !text.output.isEmpty, "\(words) \(model): \(text.error)")
        let json = ToolRun.model(words + [model, "--json"])
        #expect(json.code == .success)
        #expect(throws: Never.self) { try json.json() }
      }
      for form in ["svg", "mermaid"] {
        #expect(ToolRun.model(["graph", model, "--format", form]).code == .success)
      }
      let check = ToolRun.model(["check", model, "--json"])
      let findings = try #require(try check.json() as? [[String: Any]])
      #expect(!findings.contains { $0["severity"] as? String == "error" }, "\(model): \(check.output)")
      #expect(
        findings.allSatisfy { $0["line"] is Int } || model.hasSuffix(".mom"),
        "\(model): a finding without a place")
      #expect(ToolRun.model(["diff", model, model]).output == "No differences.\n")
      guard model.hasSuffix(".xml") else { continue }
      #expect(!findings.contains { $0["code"] as? String == "unknown-part" }, "\(model): \(check.output)")
      #expect(
        ToolRun.model(["format", model, "--check"]).output.hasSuffix(": as Xcode writes it.\n"), "\(model)")
    }
  }

  @Test(.enabled(if: root != nil))
  func `A store shows the model it keeps and its hashes`() throws {
    var kept = 0
    for store in Self.stores {
      let connection = try Connection(path: store, mode: .immutable)
      guard try connection.firstValue("SELECT 1 FROM sqlite_master WHERE name = 'Z_MODELCACHE'") != nil,
        case .blob(let plist)? = try connection.firstValue("SELECT Z_PLIST FROM Z_METADATA"),
        case .blob? = try connection.firstValue("SELECT Z_CONTENT FROM Z_MODELCACHE")
      else { continue }
      kept += 1
      let schema = try ModelInput.load(store)
      let metadata = try PropertyListSerialization.propertyList(from: Data(plist), options: [], format: nil)
      let recorded = (metadata as? [String: Any])?["NSStoreModelVersionHashes"] as? [String: Data]
      let hashes = schema.entityVersionHashes().mapValues { Data($0) }
      // A store of one configuration contains the whole model, but only the hashes of its own entities.
      for (entity, hash) in recorded ?? [:] { #expect(hashes[entity] == hash, "\(entity) in \(store)") }
      if let text = try? ModelContentsWriter.write(schema) {
        let again = try ModelContentsReader.read(Data(text.utf8), path: store)
        #expect(again == schema.canonical(), "\(store)")
        #expect(again.entityVersionHashes() == schema.entityVersionHashes(), "\(store)")
      }
    }
    #expect(kept >= 40)
  }

  @Test(.enabled(if: root != nil))
  func `A store without a stored model says so`() throws {
    let store = try #require(Self.stores.first { $0.hasSuffix("apple-recipes-2010/Recipes.sqlite") })
    let run = ToolRun.model(["show", store])
    #expect(run.code == .badInput)
    #expect(run.error.contains("keeps no model of itself"))
  }
}
