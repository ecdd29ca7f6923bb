import CoreDataModelSchema

/// Plain tables for a model: one for each entity without a parent, with its subentities' columns, one for each relationship that is
/// many-to-many or ordered, and a view for each subentity.
struct FlatSchema {
  enum ColumnType: String { case integer = "INTEGER", real = "REAL", text = "TEXT", bytes = "BLOB" }

  struct Column {
    let name: String
    let type: ColumnType
    /// Name of the table that it refers to.
    var reference: String?
    /// The property: `size.width` for an element of a composite attribute; nil for the keys that tables have.
    let property: String?
    let note: String
  }

  /// Where a row's value is: a slot of its entity's layout, and elements within it.
  struct Source {
    let slot: Int
    let elements: [Int]
    let attribute: AttributeSchema?
  }

  struct Table {
    let name: String
    let root: PropertyLayout
    /// With `id` first, and `entity` if there are subentities.
    let columns: [Column]
    /// For each entity of the family the source of each column after the keys; nil where the entity has no such property.
    let sources: [Int: [Source?]]
    var keyCount: Int { hasEntity ? 2 : 1 }
    let hasEntity: Bool
  }

  struct Join {
    let name: String
    let columns: [Column]
    let owner: PropertyLayout
    let property: String
    let isOrdered: Bool
  }

  struct View {
    let name: String
    let table: String
    let entities: [String]
    let columns: [String]
  }

  private(set) var tables: [Table] = []
  private(set) var joins: [Join] = []
  private(set) var views: [View] = []

  /// Tables that say what the others are.
  static let provenance = "_provenance"
  static let dictionary = "_column"

  private let _layout: ModelLayout
  /// Names of tables by the root's entity number.
  private var _names: [Int: String] = [:]

  init(_ layout: ModelLayout) {
    _layout = layout
    let labels = EntityLabels(layout)
    var taken = FlatNames([Self.provenance, Self.dictionary])
    let roots = layout.layouts.filter { $0.parentNumber == nil }
    let children = layout.layouts.filter { $0.parentNumber != nil }
    for root in roots { _names[root.entityNumber] = taken.add(root.entityName) }
    let views = children.map { ($0, taken.add($0.entityName)) }
    for root in roots { tables.append(_table(root, labels)) }
    for (entity, name) in views { self.views.append(_view(entity, name)) }
    for entity in layout.layouts {
      for slot in entity.slots where slot.owner == entity.entityNumber && layout.isRecorded(slot, of: entity)
      {
        joins.append(_join(slot, of: entity, &taken))
      }
    }
  }

  // MARK: Tables

  private func _table(_ root: PropertyLayout, _ labels: EntityLabels) -> Table {
    var names = FlatNames()
    var columns = [
      Column(
        name: names.add("id"), type: .integer, property: nil,
        note: "primary key of the object, as in \(root.entityName)/p1")
    ]
    let hasEntity = root.family.count > 1
    if hasEntity {
      columns.append(
        Column(name: names.add("entity"), type: .text, property: nil, note: "entity of the object"))
    }
    let keys = columns.count
    let label = labels.attribute(of: root)
    let properties = _layout.storedProperties(of: root)
    let attributes = properties.filter { _slot($0, root)?.isAttribute == true }
    for name in attributes.filter({ $0 == label }) + attributes.filter({ $0 != label }) {
      guard let attribute = _slot(name, root)?.attribute else { continue }
      columns += _columns(attribute, name, &names)
    }
    for name in properties {
      guard let slot = _slot(name, root), slot.isToOne, let relationship = slot.relationship else { continue }
      let destination = _layout.layout(numbered: relationship.destination)
      columns.append(
        Column(
          name: names.add(name + "_id"), type: .integer, reference: _names[destination.rootNumber],
          property: name, note: "id of the \(destination.entityName)"))
    }
    var sources: [Int: [Source?]] = [:]
    for number in root.family {
      sources[number] = columns.dropFirst(keys).map { $0.property.flatMap { _source($0, number) } }
    }
    return Table(
      name: _names[root.entityNumber] ?? root.entityName, root: root, columns: columns, sources: sources,
      hasEntity: hasEntity)
  }

  private func _slot(_ name: String, _ entity: PropertyLayout) -> PropertyLayout.Slot? {
    _layout.storedProperty(name, of: entity)?.slot
  }

  private func _columns(_ attribute: AttributeSchema, _ path: String, _ names: inout FlatNames) -> [Column] {
    if attribute.type == .composite {
      return attribute.elements.flatMap { _columns($0, "\(path).\($0.name)", &names) }
    }
    let (type, note) = Self._form(attribute.type)
    return [Column(name: names.add(path.replacing(".", with: "_")), type: type, property: path, note: note)]
  }

  private static func _form(_ type: AttributeType) -> (ColumnType, String) {
    switch type {
    case .integer16, .integer32, .integer64: (.integer, "")
    case .boolean: (.integer, "0 or 1")
    case .double, .float: (.real, "")
    case .decimal: (.text, "decimal number with all its digits")
    case .string: (.text, "")
    case .date: (.text, "ISO 8601")
    case .uuid: (.text, "UUID")
    case .uri: (.text, "URI")
    case .binaryData, .transformable:
      (.bytes, "an archive, a property list or JSON as JSON, other bytes as they are")
    case .undefined, .objectID, .composite: (.text, "")
    }
  }

  private func _source(_ path: String, _ entity: Int) -> Source? {
    let layout = _layout.layout(numbered: entity)
    let parts = path.split(separator: ".").map(String.init)
    // The whole path first: a property's name cannot contain a dot, but that is not checked here.
    guard let slot = layout.slot(named: path) ?? layout.slot(named: parts[0]) else { return nil }
    var attribute = layout.slots[slot].attribute
    var elements: [Int] = []
    for name in parts.dropFirst() where attribute?.type == .composite {
      guard let index = attribute?.elements.firstIndex(where: { $0.name == name }) else { return nil }
      elements.append(index)
      attribute = attribute?.elements[index]
    }
    return Source(slot: slot, elements: elements, attribute: attribute)
  }

  // MARK: Views

  private func _view(_ entity: PropertyLayout, _ name: String) -> View {
    let table = tables.first { $0.root.entityNumber == entity.rootNumber }
    let own = Set(_layout.storedProperties(of: entity))
    let columns = table?.columns.filter { column in
      guard let property = column.property else { return true }
      return own.contains(String(property.split(separator: ".").first ?? ""))
    }
    return View(
      name: name, table: table?.name ?? "",
      entities: entity.family.map { _layout.layout(numbered: $0).entityName },
      columns: columns?.map(\.name) ?? [])
  }

  // MARK: Joins

  private func _join(_ slot: PropertyLayout.Slot, of entity: PropertyLayout, _ taken: inout FlatNames) -> Join
  {
    let destination = slot.relationship.map { _layout.layout(numbered: $0.destination) } ?? entity
    let isOrdered = slot.relationship?.isOrdered ?? false
    var names = FlatNames()
    func column(_ other: PropertyLayout, _ note: String) -> Column {
      let name = other.entityName.prefix(1).lowercased() + other.entityName.dropFirst() + "_id"
      return Column(
        name: names.add(name), type: .integer, reference: _names[other.rootNumber], property: nil, note: note)
    }
    var columns = [
      column(entity, "id of the \(entity.entityName)"),
      column(destination, "id of the \(destination.entityName) in \(slot.name)"),
    ]
    if isOrdered {
      columns.append(
        Column(
          name: names.add("position"), type: .integer, property: nil, note: "place in \(slot.name), from 0"))
    }
    return Join(
      name: taken.add("\(entity.entityName)_\(slot.name)"), columns: columns, owner: entity,
      property: slot.name,
      isOrdered: isOrdered)
  }
}

/// Names of which no two are equal to SQLite, which ignores case.
struct FlatNames {
  private var _taken: Set<String>

  init(_ taken: [String] = []) { _taken = Set(taken.map { $0.lowercased() }) }

  /// Returns a name that is not taken: the one that is wanted, or one with a number.
  mutating func add(_ wanted: String) -> String {
    // SQLite keeps these to itself.
    let base = wanted.lowercased().hasPrefix("sqlite_") ? "_" + wanted : wanted
    var (name, number) = (base, 1)
    while !_taken.insert(name.lowercased()).inserted {
      number += 1
      name = "\(base)_\(number)"
    }
    return name
  }
}
