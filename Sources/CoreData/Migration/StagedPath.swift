import Foundation

/// The path of a store through the versions of a manager's stages.
struct StagedPath {
  /// A version, and the custom stage that leads to it; nil if the step is only inferred.
  struct Step {
    let checksum: String
    let model: NSManagedObjectModelReference?
    let stage: NSCustomMigrationStage?
  }

  let steps: [Step]

  /// - Parameters:
  ///   - stages: The stages of the manager.
  ///   - start: Checksum of the store's version.
  ///   - end: Checksum of the target version.
  ///   - versions: Knows the versions' former checksums.
  /// - Throws: A Cocoa error: 134505 for stages that list a version twice or are not connected, 134506 if the
  ///   store's version is later than the target version.
  init(
    _ stages: [NSMigrationStage], from start: String, to end: String, versions: StagedVersions = .init()
  ) throws {
    var all: [Step] = []
    for stage in stages {
      switch stage {
      case let stage as NSLightweightMigrationStage:
        all += stage.versionChecksums.map { Step(checksum: versions.present($0), model: nil, stage: nil) }
      case let stage as NSCustomMigrationStage:
        let current = versions.present(stage.currentModel.versionChecksum)
        if all.last?.checksum != current {
          all.append(Step(checksum: current, model: stage.currentModel, stage: nil))
        }
        let next = versions.present(stage.nextModel.versionChecksum)
        all.append(Step(checksum: next, model: stage.nextModel, stage: stage))
      default:
        throw Self._mismatch(
          "The stage '\(stage.label ?? "")' is neither an NSLightweightMigrationStage nor an NSCustomMigrationStage."
        )
      }
    }
    // The end of one stage may be the start of the next.
    var merged: [Step] = []
    for step in all {
      if step.stage == nil, merged.last?.checksum == step.checksum { continue }
      merged.append(step)
    }
    let counts = Dictionary(merged.map { ($0.checksum, 1) }, uniquingKeysWith: +)
    if let twice = merged.first(where: { counts[$0.checksum]! > 1 }) {
      throw Self._mismatch(
        "The stages name the version with the checksum \(twice.checksum) more than once, so that they are in no order."
      )
    }
    guard let first = merged.firstIndex(where: { $0.checksum == start }) else {
      throw Self._mismatch(
        "No stage names the version that the store was saved with, whose checksum is \(start). Add it where it belongs."
      )
    }
    guard let last = merged.firstIndex(where: { $0.checksum == end }) else {
      throw Self._mismatch(
        "No stage leads to the coordinator's version of the model, whose checksum is \(end). Add it as the last."
      )
    }
    guard first <= last else {
      throw CocoaError.coreData(
        NSStagedMigrationBackwardMigrationError,
        "The store is of a later version (checksum \(start)) than the model that it is to be opened with (\(end)): stages lead "
          + "forward only.")
    }
    steps = Array(merged[(first + 1)...].prefix(last - first))
  }

  private static func _mismatch(_ message: String) -> any Error {
    CocoaError.coreData(NSStagedMigrationFrameworkVersionMismatchError, message)
  }
}
