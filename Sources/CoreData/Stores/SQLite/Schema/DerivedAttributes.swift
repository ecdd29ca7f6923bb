import CoreDataModelSchema
import Foundation

extension Derivation {
  private static let _functions: [TextFunction: String] = [
    .uppercase: "NSCoreDataUppercase", .lowercase: "NSCoreDataLowercase", .canonical: "NSCoreDataCanonical",
  ]

  /// Returns the SQL of the value, given its source column.
  func applied(to column: String) -> String {
    function.map { "\(Self._functions[$0]!)(\(column))" } ?? column
  }
}

/// The triggers that maintain derived attributes, with Core Data's wording as far as its files show it.
struct DerivedTriggers {
  private let _mapping: StoreMapping

  init(_ mapping: StoreMapping) { _mapping = mapping }

  /// Returns all triggers of a table's derived attributes.
  ///
  /// - Throws: `UnsupportedModelError`.
  func statements(of table: TableMapping) throws -> [String] {
    var result: [String] = []
    for number in _mapping.layout.layout(numbered: table.rootNumber).family {
      let layout = _mapping.layout.layout(numbered: number)
      for slot in layout.slots.indices where layout.slots[slot].owner == number {
        guard let attribute = layout.slots[slot].attribute, let text = attribute.derivationExpression,
          !attribute.isTransient
        else { continue }
        let derivation = try Derivation(text, attribute: attribute.name, in: layout, _mapping.layout)
        guard let writer = Writer(_mapping, table, layout, slot, derivation) else {
          throw UnsupportedModelError(
            entity: layout.entityName, property: attribute.name,
            reason: "the derivation '\(text)' speaks of a property that is not stored")
        }
        result += writer.statements
      }
    }
    return result
  }

  /// Returns the texts of all triggers, without needless quotes, for comparison with a file's. A derivation
  /// that is not understood has none.
  var texts: Set<String> {
    Set(_mapping.tables.flatMap { (try? statements(of: $0)) ?? [] }.map(SchemaText.bare))
  }

  /// The triggers of one attribute.
  private struct Writer {
    let mapping: StoreMapping
    let table: TableMapping
    let layout: PropertyLayout
    let derivation: Derivation
    let name: String
    let column: String
    private(set) var statements: [String] = []

    init?(
      _ mapping: StoreMapping, _ table: TableMapping, _ layout: PropertyLayout, _ slot: Int,
      _ derivation: Derivation
    ) {
      guard case .attribute(let column) = mapping.storage(of: slot, in: layout.entityNumber) else {
        return nil
      }
      self.mapping = mapping
      self.table = table
      self.layout = layout
      self.derivation = derivation
      name = layout.slots[slot].name
      self.column = table.columns[column].name
      switch derivation.source {
      case .moment: _moment()
      case .attribute(let slot):
        guard let source = _column(slot, layout) else { return nil }
        _sameRow(source)
      case .distant(let toOne, let attribute):
        guard
          case .toOne(let key, _, _, let destination) = mapping.storage(of: toOne, in: layout.entityNumber),
          let source = _column(attribute, mapping.layout.layout(numbered: destination))
        else { return nil }
        _distant(table.columns[key].name, mapping.table(of: destination).name, source)
      case .members(let toMany, let function, let attribute):
        guard _members(toMany, function, attribute) else { return nil }
      }
    }

    private func _column(_ slot: Int, _ layout: PropertyLayout) -> String? {
      guard case .attribute(let column) = mapping.storage(of: slot, in: layout.entityNumber) else {
        return nil
      }
      return mapping.column(column, of: layout.entityNumber).name
    }

    // MARK: Parts

    private mutating func _trigger(
      _ suffix: String, on source: String, _ event: String, when condition: String?, _ steps: [String]
    ) {
      func plain(_ name: String) -> String { name.replacing("\"", with: "") }
      let trigger = StoreVocabulary.quoted("Z_DA_\(plain(source))_\(layout.entityName)_\(name)_\(suffix)")
      let when = condition.map { " WHEN (\($0))" } ?? ""
      statements.append(
        "CREATE TRIGGER \(trigger) AFTER \(event) ON \(source) FOR EACH ROW\(when) BEGIN \(steps.joined(separator: "; ")); END"
      )
    }

    private func _text(_ name: String) -> String { "'\(name.replacing("'", with: "''"))'" }

    /// Updates the column of some owners and reports them.
    private func _set(_ value: String, where condition: String, isInsert: Bool = false) -> [String] {
      let plain = table.name.replacing("\"", with: "")
      let report = "NSCoreDataDATrigger\(isInsert ? "Insert" : "")UpdatedAffectedObjectValue"
      return [
        "UPDATE \(table.name) SET \(column) = \(value) WHERE \(condition)",
        "SELECT \(report)(\(_text(plain)), Z_ENT, Z_PK, \(_text(name)), \(column)) FROM \(table.name) WHERE \(condition)",
      ]
    }

    /// Returns a condition that restricts triggers of a subentity's attribute to its own rows.
    private func _family(_ alias: String) -> String? {
      guard layout.entityNumber != layout.rootNumber else { return nil }
      let numbers = layout.family.map { "\(mapping.numbers.stored(for: $0))" }.joined(separator: ", ")
      return "\(alias).Z_ENT IN (\(numbers))"
    }

    private func _and(_ conditions: String?...) -> String? {
      let present = conditions.compactMap { $0 }
      return present.isEmpty ? nil : present.joined(separator: " AND ")
    }

    // MARK: Kinds

    private mutating func _moment() {
      let steps = { (isInsert: Bool, writer: Writer) in
        writer._set("NSCoreDataNow()", where: "Z_PK = NEW.Z_PK", isInsert: isInsert)
      }
      _trigger(
        "INSERT", on: table.name, "INSERT", when: _and("NEW.Z_OPT NOT NULL", _family("NEW")),
        steps(true, self))
      _trigger(
        "UPDATE", on: table.name, "UPDATE OF Z_OPT", when: _and("NEW.Z_OPT NOT NULL", _family("NEW")),
        steps(false, self))
    }

    private mutating func _sameRow(_ source: String) {
      let value = derivation.applied(to: source)
      _trigger(
        "INSERT", on: table.name, "INSERT", when: _family("NEW"),
        _set(value, where: "Z_PK = NEW.Z_PK", isInsert: true))
      _trigger(
        "UPDATE", on: table.name, "UPDATE OF \(source)", when: _family("NEW"),
        _set(value, where: "Z_PK = NEW.Z_PK"))
    }

    private mutating func _distant(_ key: String, _ target: String, _ source: String) {
      let value = "(SELECT \(derivation.applied(to: source)) FROM \(target) WHERE Z_PK = NEW.\(key))"
      _trigger(
        "SOURCE_INSERT", on: table.name, "INSERT", when: _family("NEW"),
        _set(value, where: "Z_PK = NEW.Z_PK", isInsert: true))
      _trigger(
        "SOURCE_UPDATE", on: table.name, "UPDATE OF \(key)", when: _family("NEW"),
        _set(value, where: "Z_PK = NEW.Z_PK"))
      let theirs = derivation.applied(to: "NEW.\(source)")
      let owners = _and("\(key) = NEW.Z_PK", _family(table.name)) ?? ""
      _trigger(
        "PARAMETER_INSERT", on: target, "INSERT", when: nil, _set(theirs, where: owners, isInsert: true))
      _trigger("PARAMETER_UPDATE", on: target, "UPDATE OF \(source)", when: nil, _set(theirs, where: owners))
    }

    private mutating func _members(_ toMany: Int, _ function: String, _ attribute: Int?) -> Bool {
      switch mapping.storage(of: toMany, in: layout.entityNumber) {
      case .oneToMany(let destination, let inverse):
        let destinationLayout = mapping.layout.layout(numbered: destination)
        guard case .toOne(let key, _, _, _) = mapping.storage(of: inverse, in: destination) else {
          return false
        }
        let child = mapping.table(of: destination)
        let keyName = child.columns[key].name
        guard let attribute else {
          _count(keyName, child.name)
          return true
        }
        guard let source = _column(attribute, destinationLayout) else { return false }
        _aggregate(function, source, keyName, child.name)
        return true
      case .manyToMany(let index, let ownerIsFirst, let destination):
        let join = mapping.joins[index]
        let ends = join.ends(ownerIsFirst: ownerIsFirst)
        var source: String?
        if let attribute {
          source = _column(attribute, mapping.layout.layout(numbered: destination))
          if source == nil { return false }
        }
        _paired(function, source, join.name, ends.owner, ends.member, mapping.table(of: destination).name)
        return true
      default: return false
      }
    }

    /// Increments and decrements the count of a one-to-many, as Core Data does.
    private mutating func _count(_ key: String, _ child: String) {
      func owner(_ alias: String) -> String { "Z_PK = \(alias).\(key)" }
      _trigger(
        "PARAMETER_INSERT", on: child, "INSERT", when: "NEW.\(key) NOT NULL",
        _set("IFNULL(\(column), 0) + 1", where: owner("NEW")))
      _trigger(
        "PARAMETER_UPDATE_INCREMENT", on: child, "UPDATE OF \(key)", when: "NEW.\(key) NOT NULL",
        _set("\(column) + 1", where: owner("NEW")))
      _trigger(
        "PARAMETER_UPDATE_DECREMENT", on: child, "UPDATE OF \(key)", when: "OLD.\(key) NOT NULL",
        _set("\(column) - 1", where: owner("OLD")))
      _trigger(
        "PARAMETER_DELETE", on: child, "DELETE", when: "OLD.\(key) NOT NULL",
        _set("\(column) - 1", where: owner("OLD")))
      _trigger(
        "SOURCE_INSERT", on: table.name, "INSERT", when: _family("NEW"),
        _set(
          "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(child) WHERE \(key) = NEW.Z_PK)", where: "Z_PK = NEW.Z_PK",
          isInsert: true))
    }

    private func _total(_ function: String, _ source: String) -> String {
      function == "SUM" ? "IFNULL(SUM(\(source)), 0)" : "\(function)(\(source))"
    }

    private mutating func _aggregate(_ function: String, _ source: String, _ key: String, _ child: String) {
      func value(_ owner: String) -> String {
        "(SELECT \(_total(function, source)) FROM \(child) WHERE \(key) = \(owner))"
      }
      func again(_ alias: String) -> [String] {
        _set(value("\(alias).\(key)"), where: "Z_PK = \(alias).\(key)")
      }
      _trigger("PARAMETER_INSERT", on: child, "INSERT", when: "NEW.\(key) NOT NULL", again("NEW"))
      _trigger(
        "PARAMETER_UPDATE_INCREMENT", on: child, "UPDATE OF \(key), \(source)", when: "NEW.\(key) NOT NULL",
        again("NEW"))
      _trigger(
        "PARAMETER_UPDATE_DECREMENT", on: child, "UPDATE OF \(key)", when: "OLD.\(key) NOT NULL", again("OLD")
      )
      _trigger("PARAMETER_DELETE", on: child, "DELETE", when: "OLD.\(key) NOT NULL", again("OLD"))
      _trigger(
        "SOURCE_INSERT", on: table.name, "INSERT", when: _family("NEW"),
        _set(value("NEW.Z_PK"), where: "Z_PK = NEW.Z_PK", isInsert: true))
    }

    private mutating func _paired(
      _ function: String, _ source: String?, _ join: String, _ owner: String, _ member: String,
      _ target: String
    ) {
      func value(_ key: String) -> String {
        guard let source else { return "(SELECT COUNT(*) FROM \(join) WHERE \(owner) = \(key))" }
        return "(SELECT \(_total(function, "t1.\(source)")) FROM \(join) t0 JOIN \(target) t1 "
          + "ON t1.Z_PK = t0.\(member) WHERE t0.\(owner) = \(key))"
      }
      _trigger(
        "PARAMETER_INSERT", on: join, "INSERT", when: nil,
        _set(value("NEW.\(owner)"), where: "Z_PK = NEW.\(owner)"))
      _trigger(
        "PARAMETER_DELETE", on: join, "DELETE", when: nil,
        _set(value("OLD.\(owner)"), where: "Z_PK = OLD.\(owner)"))
      if let source {
        _trigger(
          "PARAMETER_UPDATE", on: target, "UPDATE OF \(source)", when: nil,
          _set(
            value("\(table.name).Z_PK"),
            where: "Z_PK IN (SELECT \(owner) FROM \(join) WHERE \(member) = NEW.Z_PK)"))
      }
      _trigger(
        "SOURCE_INSERT", on: table.name, "INSERT", when: _family("NEW"),
        _set(value("NEW.Z_PK"), where: "Z_PK = NEW.Z_PK", isInsert: true))
    }
  }
}
