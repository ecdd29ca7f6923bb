import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreDataModelFiles

@Suite("Real model files", .enabled(if: SharedCorpus.root != nil))
struct CorpusModelTests {
  @Test(arguments: SharedCorpus.models)
  func `load and lay out`(path: String) throws {
    let schema = try ModelContentsReader.read(SharedCorpus.data(path), path: path)
    let layout = try ModelLayout(schema)
    #expect(layout.layouts.count == schema.entities.count)
  }

  @Test func `have the version hashes of the stores saved with them`() throws {
    let vectors =
      try JSONSerialization.jsonObject(with: SharedCorpus.data("hash-vectors.json")) as! [String: Any]
    var hashes: [String: [String: [UInt8]]] = [:]
    var checked = 0
    for vector in vectors["entity_hashes"] as! [[String: Any]] where vector["reproduced"] as! Bool {
      for store in vector["stores"] as! [String] {
        guard let model = Self._model(of: store) else { continue }
        if hashes[model] == nil {
          hashes[model] = try ModelContentsReader.read(SharedCorpus.data(model), path: model)
            .entityVersionHashes()
        }
        let entity = vector["entity"] as! String
        #expect(hashes[model]![entity]?.hex == vector["sha256"] as? String, "\(entity) in \(model)")
        checked += 1
      }
    }
    #expect(checked > 300)
  }

  private static func _model(of store: String) -> String? {
    let parts = store.split(separator: "/")
    guard parts.count == 2 else { return nil }
    let name = parts[1].split(separator: ".")[0]
    return SharedCorpus.models.first { $0 == "stores/\(parts[0])/models/\(name).xcdatamodel.xml" }
  }
}
