import CoreDataModelSchema
import Foundation

/// The versions that a staged migration may meet, by the checksums that earlier versions of this package gave
/// to some of them: a program's stages and its stores may contain either.
struct StagedVersions {
  private var _presentByFormer: [String: String] = [:]
  private var _models: [NSManagedObjectModel] = []

  init() {}

  init(_ stages: [NSMigrationStage], to destination: NSManagedObjectModel, storeModel: ModelSchema?) {
    let staged = stages.compactMap { $0 as? NSCustomMigrationStage }.flatMap {
      [try? $0.currentModel.resolve(), try? $0.nextModel.resolve()]
    }
    let bundled = ModelSearch.models(in: nil).flatMap(ModelSearch.versions).map {
      NSManagedObjectModel(contentsOf: $0)
    }
    let kept = storeModel.flatMap { try? NSManagedObjectModel(schema: $0) }
    for case let model? in [destination, kept] + staged + bundled {
      guard let former = model.formerVersionChecksum else { continue }
      _presentByFormer[former] = model.versionChecksum
      _models.append(model)
    }
  }

  /// Returns the present checksum of a version.
  func present(_ checksum: String) -> String { _presentByFormer[checksum] ?? checksum }

  /// Returns the present checksum of the version with these hashes from a file.
  func checksum(of hashes: [String: Data]) -> String {
    let model = _models.first { $0.renewed(hashes) == $0.entityVersionHashesByName }
    return model?.versionChecksum ?? NSManagedObjectModel.checksum(hashes)
  }
}
