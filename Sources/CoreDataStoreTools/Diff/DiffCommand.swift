import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store diff`.
  static let diff = Command(
    CommandSyntax(
      "diff", summary: "Show what differs between two stores, or between a file and its write-ahead log.",
      discussion: [
        "Of stores with one identifier, such as a store and its backup, an object is the same if it has the same primary key. Of "
          + "others it is the same if it has the same values for the entity's first uniqueness constraint; --key chooses "
          + "the attributes. What the models do not share is named and not compared.",
        "With one store the file is compared with itself without its log (Books.sqlite-wal): what would be lost if the file "
          + "alone were copied.",
        "+ has been added, - has been removed, ~ has been changed. A to-many relationship is shown where it is stored: "
          + "one-to-many ones show as the to-one of their members.",
      ],
      examples: [
        "coredata store diff Backup.sqlite Books.sqlite",
        "coredata store diff Mine.sqlite Theirs.sqlite --key Book=title --key Author=name",
        "coredata store diff Books.sqlite", "coredata store diff Backup.sqlite Books.sqlite --json",
      ],
      options: [
        StoreArguments.model,
        .value(
          "key", "ENTITY=NAMES", repeats: true,
          "Objects of the entity are the same if these attributes are equal."),
        OptionSyntax.value("entity", "NAME", repeats: true, "Only this entity, without its subentities.")
          .completed(with: .entities),
        .flag("summary", "Show the numbers only."),
        .flag("exit-code", "End with 65 if there are differences."),
        StoreArguments.zone, StoreArguments.json,
      ],
      operands: [
        CommandSyntax.Operand("OLD", "The older store, in one of the forms of STORE."),
        CommandSyntax.Operand(
          "NEW", isOptional: true,
          "The newer store. Without it the file of the older one is compared with its log."),
      ], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let zone = try StoreArguments.zone(arguments)
    let path = arguments.operands[0]
    var bare: FileWithoutLog?
    let old: StoreInput
    let new: StoreInput
    if arguments.operands.count == 1 {
      new = try StoreInput(arguments, environment)
      let copy = try FileWithoutLog(new.path, name: new.name)
      bare = copy
      old = try StoreInput(copy.path, model: arguments.text("model"), environment)
    } else {
      old = try StoreInput(path, model: arguments.text("model"), environment)
      new = try StoreInput(arguments.operands[1], model: arguments.text("model"), environment)
    }
    defer { withExtendedLifetime(bare) {} }
    let sharesKeys = DiffKeys.areShared(old, new)
    try old.reading { before in
      try new.reading { after in
        let keys = try DiffKeys.keys(
          arguments.values["key"] ?? [], before.layout, after.layout, infers: !sharesKeys)
        let only = try arguments.values["entity"].map {
          try $0.map { try after.layout.entity(named: $0).entityName }
        }
        let comparison = StoreComparison(
          StoreSide(before, keys: keys, zone), StoreSide(after, keys: keys, zone), only: only)
        let terminal = environment.outputTerminal
        var output = DiffOutput(
          FileSink(standardOutputOf: environment), isJSON: arguments.has("json"),
          width: terminal.isInteractive ? terminal.width : nil)
        let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
        defer { progress.finish() }
        let isSummary = arguments.has("summary")
        let counts = try comparison.run(progress: { progress.update($0, $1) }) { change in
          if !isSummary { try output.write(change) }
        }
        progress.finish()
        var notes: [String] = []
        let (onlyOld, onlyNew) = comparison.differencesOfModels
        if !onlyOld.isEmpty { notes.append("Only in '\(old.name)': \(onlyOld.joined(separator: ", ")).") }
        if !onlyNew.isEmpty { notes.append("Only in '\(new.name)': \(onlyNew.joined(separator: ", ")).") }
        let unkeyed = comparison.entities.filter { keys[$0] == nil && counts[$0]?.isEmpty == false }
        if !sharesKeys, !unkeyed.isEmpty {
          notes.append(
            "The stores do not share primary keys: objects of \(unkeyed.joined(separator: ", ")) are taken for the same "
              + "by primary key. '--key ENTITY=ATTRIBUTES' compares by values.")
        }
        try output.finish(comparison.entities, counts, notes: notes)
        if arguments.has("exit-code"), counts.values.contains(where: { !$0.isEmpty }) {
          throw ToolFailure(.badInput, "'\(old.name)' and '\(new.name)' differ.")
        }
      }
    }
  }
}

/// Reads `--key`.
package enum DiffKeys {
  /// Whether the same object has the same primary key in both stores.
  package static func areShared(_ old: StoreInput, _ new: StoreInput) -> Bool {
    // Copies of a store on a server have primary keys of their own.
    old.metadata[NSStoreUUIDKey] as? String == new.metadata[NSStoreUUIDKey] as? String && !old.isServerCopy
      && !new.isServerCopy
  }

  /// Returns the attributes of each entity by which its objects are the same.
  ///
  /// - Parameter infers: Whether entities without an argument get the attributes of their first uniqueness constraint.
  /// - Throws: `ToolFailure` for text that names no attribute of both models.
  package static func keys(
    _ texts: [String], _ old: ModelLayout, _ new: ModelLayout, infers: Bool
  ) throws(ToolFailure) -> [String: [String]] {
    var result: [String: [String]] = [:]
    if infers {
      for entity in new.layouts {
        guard let constraint = entity.uniquenessConstraints.first else { continue }
        let names = constraint.map { entity.slots[$0].name }
        let other = old.layoutsByName[entity.entityName]
        if names.allSatisfy({ name in
          other.map { _isAttribute(name, $0) && _isAttribute(name, entity) } ?? false
        }) {
          result[entity.entityName] = names
        }
      }
    }
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else {
        throw ToolFailure(
          .usage, "'\(text)' is no key. Give the entity and its attributes: '--key Book=isbn'.")
      }
      let entity = try new.entity(named: String(parts[0]))
      let names = parts[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      for name in names {
        for layout in [new, old] {
          guard let other = layout.layoutsByName[entity.entityName], !_isAttribute(name, other) else {
            continue
          }
          let known = other.exchangedSlots.filter { other.slots[$0].isAttribute }.map { other.slots[$0].name }
          throw ToolFailure(
            .usage,
            "'\(entity.entityName)' has no attribute '\(name)'."
              + SpellingSuggestion.question(
                about: name, among: known, or: " It has \(known.joined(separator: ", "))."))
        }
      }
      // Objects of subentities are those of the entity, too.
      for number in entity.family { result[new.layout(numbered: number).entityName] = names }
    }
    return result
  }

  private static func _isAttribute(_ name: String, _ entity: PropertyLayout) -> Bool {
    entity.slot(named: name).map { entity.slots[$0].isAttribute && !entity.slots[$0].isTransient } ?? false
  }
}

/// A copy of a store's file without its write-ahead log, in a temporary directory that goes with this value.
package final class FileWithoutLog {
  package let path: String
  private let _directory: String

  /// - Throws: `ToolFailure` if there is no log or the file cannot be copied.
  package init(_ store: String, name: String) throws(ToolFailure) {
    guard DatabaseHead.hasLog(store), FileManager.default.fileExists(atPath: store + "-wal") else {
      throw ToolFailure(.usage, "'\(name)' has no write-ahead log ('\(name)-wal'). Name a second store.")
    }
    let directory = UnfinishedPaths.staging(
      beside: FileManager.default.temporaryDirectory.path + "/store.sqlite")
    _directory = directory
    path = "\(directory)/\((store as NSString).lastPathComponent)"
    let error = UnfinishedPaths.shared.create(directory) { mkdir(directory, 0o700) == 0 ? 0 : errno }
    guard error == 0 else {
      UnfinishedPaths.shared.end(directory) {}
      throw FileSink.failure(directory, error)
    }
    guard DatabaseHead.copy(store, to: path) else { throw FileSink.failure(path, errno) }
    // Large values are in files beside it.
    let support = (StoreFileFacts.externalDirectory(path: store) as NSString).deletingLastPathComponent
    if FileManager.default.fileExists(atPath: support) {
      let link = (StoreFileFacts.externalDirectory(path: path) as NSString).deletingLastPathComponent
      try? FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: URL(fileURLWithPath: support).path)
    }
  }

  deinit {
    let directory = _directory
    UnfinishedPaths.shared.end(directory) { try? FileManager.default.removeItem(atPath: directory) }
  }
}
