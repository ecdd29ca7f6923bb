import Foundation
import Synchronization

@testable import CoreData

/// The attributes that each context of a soak has assigned and not saved to a store: its next save may change
/// only these.
struct SoakAssignments: Sendable {
  private var _keys: [Set<String>]

  init(contextCount: Int) { _keys = Array(repeating: [], count: contextCount) }

  /// Attributes as `label.key`.
  func keys(of context: Int) -> Set<String> { _keys[context] }

  mutating func insert(_ keys: [String], of context: Int) { _keys[context].formUnion(keys) }

  mutating func copy(_ context: Int, to parent: Int?) {
    if let parent { _keys[parent].formUnion(_keys[context]) }
  }

  mutating func discard(_ context: Int) { _keys[context] = [] }
}

/// The attributes of all objects, by label and key.
struct SoakAttributes {
  static let keys = [("Author", ["age"]), ("Publication", ["pages", "price"])]
  private var _values: [String: String] = [:]
  /// Versions of the stored rows by label.
  private var _versions: [String: Int64] = [:]

  /// Reads all objects. Call inside the context's block.
  init(_ context: NSManagedObjectContext) throws {
    for (entity, keys) in Self.keys {
      for object in try context.all(entity) {
        object.fireFault()
        _versions[GraphView.name(object)] = object._row?.version
        for key in keys {
          _values["\(GraphView.name(object)).\(key)"] = Self._text(object.value(forKey: key))
        }
      }
    }
  }

  /// Returns the attributes that differ, of objects in both.
  func changes(to later: SoakAttributes) -> [(key: String, before: String, after: String)] {
    _values.compactMap { key, before in
      guard let after = later._values[key], after != before else { return nil }
      return (key, before, after)
    }
  }

  /// Returns objects whose version cannot result from one save.
  func wrongVersions(in later: SoakAttributes) -> [String] {
    _versions.compactMap { name, before in
      guard let after = later._versions[name], after != before, after != before + 1 else { return nil }
      return "\(name) has version \(after) after \(before)"
    }
  }

  /// Returns the attributes without unsaved change in the context's registered objects that differ from this
  /// state.
  func differences(from context: NSManagedObjectContext) -> [String] {
    context.registeredObjects.flatMap { object -> [String] in
      guard !object.isInserted, !object.isDeleted, !object.isFault else { return [] }
      let unsaved = object.changedValues()
      return Self.keys.flatMap(\.1).compactMap { key in
        let name = "\(GraphView.name(object)).\(key)"
        guard object.entity.attributesByName[key] != nil, unsaved[key] == nil, let stored = _values[name]
        else { return nil }
        let shown = Self._text(object.value(forKey: key))
        return shown == stored ? nil : "\(name) = \(shown), not \(stored)"
      }
    }
  }

  private static func _text(_ value: Any?) -> String { value.map { "\($0)" } ?? "nil" }
}

extension GraphSoak {
  /// Saves to the store with `body`, and checks that only attributes change that the context, or a child that
  /// saved into it, has assigned.
  func checkingAssignments(of context: SoakContext, _ body: () throws -> Void) throws {
    let before = try stack.fresh { try SoakAttributes($0) }
    try body()
    let assigned = assignments.withLock { $0.keys(of: index(of: context)) }
    let after = try stack.fresh { try SoakAttributes($0) }
    for (key, before, after) in before.changes(to: after) where !assigned.contains(key) {
      fail("\(context.name!) saved \(key) = \(after) over \(before), which it has not assigned")
    }
    for wrong in before.wrongVersions(in: after) { fail("\(context.name!) saved, and \(wrong)") }
  }

  /// Checks that a context which has merged every save shows the stored values except where it has unsaved
  /// changes.
  func checkMerged(_ context: SoakContext) throws {
    let stored = try stack.fresh { try SoakAttributes($0) }
    for difference in context.performAndWait({ stored.differences(from: context) }).prefix(4) {
      fail("\(context.name!), merged, shows \(difference)")
    }
  }
}
