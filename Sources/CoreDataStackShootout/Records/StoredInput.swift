import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// All objects of a store as the records of a shootout.
struct StoredInput {
  let name: String
  /// How the records are read.
  let records: RecordInput
  /// The records, one a line.
  let bytes: [UInt8]
  let count: Int
  let unindexedKeys: [String]
  /// What is imported otherwise than it is in the store, in sentences.
  let remarks: [String]
  private let _schema: ModelSchema

  /// Reads the store, without changing it.
  ///
  /// - Parameter input: Of whose properties the entity is empty for the one with the most objects, and the model for the
  ///   one inside the store.
  /// - Throws: `ToolFailure` for a store that cannot be read, or has no object.
  init(_ input: RecordInput, _ environment: ToolEnvironment) throws {
    guard case .store(let path) = input.origin else { preconditionFailure("the records are a store's") }
    let store = try StoreInput(path, model: input.modelPath.isEmpty ? nil : input.modelPath, environment)
    try store.model.expectExact(store.name)
    let reader = try store.reader()
    defer { reader.close() }
    var records = input
    (name, _schema) = (Workload.name(ofInput: path), store.model.schema)
    if records.entity.isEmpty { records.entity = try Self._largest(reader, store.name) }
    let plan = try RecordPlan(_schema, entity: records.entity, keys: records.keys, spansEntities: true)
    let written = StoreRecords(reader, plan)
    do {
      try written.write()
    } catch {
      throw StoreInput.failure(error, store.path)
    }
    guard written.count > 0 else { throw Self._nothing(store.name) }
    let left = Self._left(plan.layout)
    records.relaxed = written.empty.keys.sorted() + left.filter(\.isMandatory).map(\.name)
    (self.records, bytes, count) = (records, written.bytes, written.count)
    unindexedKeys = plan.unindexedKeys
    remarks = Self._remarks(written, plan, left: left.map(\.name))
  }

  func plan() throws -> RecordPlan {
    try RecordPlan(
      _schema, entity: records.entity, keys: records.keys, spansEntities: true, relaxed: records.relaxed)
  }

  private static func _nothing(_ name: String) -> ToolFailure {
    ToolFailure(.badInput, "'\(name)' has no object. '--model \(name) --make NAME=N' invents some.")
  }

  private static func _largest(_ reader: StoreReader, _ name: String) throws -> String {
    let counts = try reader.counts()
    let entities = reader.layout.layouts.filter { !$0.isAbstract && counts[$0.entityNumber, default: 0] > 0 }
    guard
      let largest = entities.max(by: {
        (counts[$0.entityNumber]!, $1.entityNumber) < (counts[$1.entityNumber]!, $0.entityNumber)
      })
    else { throw _nothing(name) }
    return largest.entityName
  }

  /// Attributes whose values only the program understands.
  private static func _left(_ layout: ModelLayout) -> [(name: String, isMandatory: Bool)] {
    layout.layouts.flatMap { entity in
      entity.slots.filter {
        $0.owner == entity.entityNumber && $0.isAttribute && !$0.isTransient && !$0.isDerived
          && !$0.isImported
      }.map { ("\(entity.entityName).\($0.name)", !$0.isOptional) }
    }
  }

  private static func _remarks(_ written: StoreRecords, _ plan: RecordPlan, left: [String]) -> [String] {
    var remarks: [String] = []
    if !left.isEmpty {
      remarks.append(
        "\(left.joined(separator: ", ")): left out, since only the program knows the class of such values")
    }
    for (property, count) in written.empty.sorted(by: { $0.key < $1.key }) {
      remarks.append("\(property) is mandatory and empty in \(counted(count, "object")): it may be here")
    }
    if written.doubles > 0 {
      remarks.append(
        "\(counted(written.doubles, "object")) \(written.doubles == 1 ? "has" : "have") the key of another, and \(written.doubles == 1 ? "becomes" : "become") one with it"
      )
    }
    if !plan.hasKeys {
      remarks.append(
        "no attribute is unique in the model: all objects are inserted without a look-up; '--key \(plan.entity.entityName).ATTRIBUTE' names one"
      )
    }
    return remarks
  }
}
