import CoreData
import Foundation

/// Brings the schema of a file and that of a new store into one form, by one rule.
struct SchemaForm {
  private let _rule: SchemaTrial.Rule
  private let _model: NSManagedObjectModel
  private let _version: Int

  init(_ rule: SchemaTrial.Rule, _ model: NSManagedObjectModel, frameworkVersion: Int) {
    _rule = rule
    _model = model
    _version = frameworkVersion
  }

  func applied(_ file: [String], _ ours: [String]) -> (file: [String], ours: [String]) {
    switch _rule {
    case .quotes:
      return (file.map { $0.replacing("\"", with: "") }, ours.map { $0.replacing("\"", with: "") })
    case .oldIndexes: return _version <= 851 ? (file, _withOldIndexes(ours)) : (file, ours)
    case .oldOrder: return _version < 847 ? (file.sorted(), ours.sorted()) : (file, ours)
    case .noImpliedIndexes: return _version == 851 ? (file, _withoutImplied(file, ours)) : (file, ours)
    case .repeatedIndexes: return _version <= 866 ? (_withoutRepeated(file), ours) : (file, ours)
    case .selfJoins: return (_withoutSelfJoins(file), _withoutSelfJoins(ours))
    case .migrated: return _migrated(file, ours)
    case .orderColumns:
      return _version < 977 ? (file.map(_sortingOrderColumns), ours.map(_sortingOrderColumns)) : (file, ours)
    }
  }

  // MARK: Parts of statements

  /// The parts of an index: its name, table and columns.
  private struct Index {
    let name: String
    let table: String
    let columns: [String]
    let isUnique: Bool

    init?(_ statement: String) {
      isUnique = statement.hasPrefix("CREATE UNIQUE INDEX ")
      guard isUnique || statement.hasPrefix("CREATE INDEX "), let open = statement.firstIndex(of: "(") else {
        return nil
      }
      let words = statement[..<open].split(separator: " ")
      guard let on = words.lastIndex(of: "ON"), on > 0, on + 1 < words.count else { return nil }
      (name, table) = (String(words[on - 1]), String(words[on + 1]))
      columns = statement[statement.index(after: open)...].dropLast().split(separator: ",").map {
        String($0.drop { $0 == " " })
      }
    }

    var isCollated: Bool { columns.contains { $0.contains(" COLLATE ") } }
    var plainColumns: [String] { columns.map { String($0.prefix { $0 != " " }) } }
  }

  /// Name and columns of a table.
  private func _table(_ statement: String) -> (name: String, columns: [String])? {
    guard statement.hasPrefix("CREATE TABLE "), let open = statement.firstIndex(of: "(") else { return nil }
    let name = statement[..<open].split(separator: " ").last.map(String.init) ?? ""
    let list = statement[statement.index(after: open)...].dropLast()
    return (name, list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
  }

  // MARK: Rules

  private func _withOldIndexes(_ ours: [String]) -> [String] {
    var constraints: [String: [[String]]] = [:]
    var result: [String] = []
    for statement in ours {
      guard let index = Index(statement), index.isCollated else {
        result.append(statement)
        continue
      }
      let columns = index.plainColumns
      if index.isUnique {
        constraints[index.table, default: []].append(columns)
        continue
      }
      if _version >= 847 {
        result.append(statement)
        continue
      }
      let name = "\(index.table)_\(columns.joined(separator: "_"))" + (columns.count == 1 ? "_INDEX" : "")
      result.append("CREATE INDEX \(name) ON \(index.table) (\(columns.joined(separator: ", ")))")
    }
    return result.map { statement in
      guard let name = _table(statement)?.name, let added = constraints[name] else { return statement }
      // A constraint of one column is part of the column; one of several is a clause at the end.
      return added.reduce(statement) { text, columns in
        guard columns.count > 1 else {
          return text.replacing(" \(columns[0]) VARCHAR", with: " \(columns[0]) VARCHAR UNIQUE")
        }
        return text.dropLast(2)
          + ", CONSTRAINT \(columns.joined(separator: "_")) UNIQUE (\(columns.joined(separator: ", "))))"
      }
    }
  }

  private func _withoutImplied(_ file: [String], _ ours: [String]) -> [String] {
    let present = Set(file)
    let indexes = ours.compactMap(Index.init)
    return ours.filter { statement in
      guard let index = Index(statement), !present.contains(statement), index.columns.count == 1 else {
        return true
      }
      return !indexes.contains {
        $0.table == index.table && $0.columns == index.columns && $0.name != index.name
      }
    }
  }

  private func _withoutRepeated(_ file: [String]) -> [String] {
    let names = Dictionary(grouping: file.compactMap(Index.init)) { "\($0.table) \($0.columns)" }
    return file.filter { statement in
      guard let index = Index(statement), index.isCollated else { return true }
      return !_model.entities.contains { entity in
        guard let name = entity.name, index.name.hasPrefix("Z_\(name)_"),
          let parent = entity.superentity?.name
        else {
          return false
        }
        let inherited = index.name.replacing("Z_\(name)_", with: "Z_\(parent)_")
        return names["\(index.table) \(index.columns)"]!.contains { $0.name == inherited }
      }
    }
  }

  private func _withoutSelfJoins(_ statements: [String]) -> [String] {
    statements.map { statement in
      if let (_, columns) = _table(statement), let numbers = _selfJoin(columns) {
        return "CREATE TABLE self-join \(numbers)"
      }
      if let index = Index(statement), index.columns.count == 2,
        let numbers = _selfJoin(index.columns + ["PRIMARY KEY"])
      {
        return "CREATE INDEX self-join \(numbers)"
      }
      return statement
    }
  }

  /// The two columns of a table that joins an entity with itself, in one order.
  private func _selfJoin(_ columns: [String]) -> String? {
    guard columns.count >= 3, columns.contains(where: { $0.hasPrefix("PRIMARY KEY") }) else { return nil }
    let names = columns.prefix(2).map { String($0.prefix { $0 != " " }) }
    guard names.allSatisfy({ $0.hasPrefix("Z_") }) else { return nil }
    let numbers = names.map { String($0.dropFirst(2).prefix { $0.isNumber }) }
    guard !numbers[0].isEmpty, numbers[0] == numbers[1] else { return nil }
    return names.sorted().joined(separator: " ")
  }

  /// Columns by name, without leftover indexes and regardless of order.
  private func _migrated(_ file: [String], _ ours: [String]) -> ([String], [String]) {
    // A store that was created in one step has the system tables last.
    guard
      file.first?.hasPrefix("CREATE TABLE Z_PRIMARYKEY") ?? false || _hasAddedColumns(file)
        || _hasOldIndexes(file)
    else { return (file, ours) }
    func form(_ statement: String) -> String {
      guard let (name, columns) = _table(statement) else { return statement }
      return "CREATE TABLE \(name): \(columns.sorted().joined(separator: ", "))"
    }
    let wanted = Set(ours.map(form))
    let kept = file.map(form).filter {
      wanted.contains($0) || !($0.hasPrefix("CREATE INDEX") || $0.hasPrefix("CREATE UNIQUE"))
    }
    let present = Set(file.compactMap(Index.init).map { "\($0.table) \($0.plainColumns)" })
    // An index that exists under an older name, or was never added.
    let made = ours.map(form).filter { statement in
      guard let index = Index(statement), !kept.contains(statement) else { return true }
      return !present.contains("\(index.table) \(index.plainColumns)") && !index.isCollated
    }
    return (Set(kept).sorted(), Set(made).sorted())
  }

  /// Indexes of attributes in the old form, in a file of a version that writes the new one.
  private func _hasOldIndexes(_ file: [String]) -> Bool {
    _version >= 847
      && file.compactMap(Index.init).contains { index in
        !index.isCollated && index.columns.count == 1 && index.columns != ["Z_ENT"]
          && index.name == "\(index.table)_\(index.columns[0])_INDEX"
          && !_model.entities.contains {
            $0.relationshipsByName.keys.contains { "Z" + $0.uppercased() == index.columns[0] }
          }
      }
  }

  /// Added columns follow the space that ended the list.
  private func _hasAddedColumns(_ file: [String]) -> Bool {
    file.contains {
      $0.hasPrefix("CREATE TABLE") && ($0.contains(" , ") || !($0.hasSuffix(" )") || !$0.contains("( ")))
    }
  }

  private func _sortingOrderColumns(_ statement: String) -> String {
    guard let (name, columns) = _table(statement) else { return statement }
    let orders = columns.filter { $0.hasPrefix("Z_FOK_") }.sorted()
    var next = orders.makeIterator()
    let sorted = columns.map { $0.hasPrefix("Z_FOK_") ? next.next()! : $0 }
    return "CREATE TABLE \(name) ( \(sorted.joined(separator: ", ")) )"
  }
}
