import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store entities`.
  static let entities = Command(
    CommandSyntax(
      "entities", summary: "List a store's entities with their tables and numbers of objects.",
      examples: [
        "coredata store entities Books.sqlite", "coredata store entities Books.sqlite --properties",
      ],
      options: [
        StoreArguments.model, .flag("properties", "List the properties of each, too."), StoreArguments.json,
      ], operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    try StoreInput(arguments, environment).reading { reader in
      let listing = EntityListing(reader, counts: try reader.counts())
      if arguments.has("json") {
        try environment.output(listing.json.text() + "\n")
      } else {
        try environment.output(
          listing.text(environment.outputTerminal, withProperties: arguments.has("properties")))
      }
    }
  }
}

/// The entities of a store, according to its file.
struct EntityListing {
  private let _reader: StoreReader
  private let _counts: [Int: Int]

  init(_ reader: StoreReader, counts: [Int: Int]) {
    _reader = reader
    _counts = counts
  }

  private var _layouts: [PropertyLayout] { _reader.layout.layouts }

  private func _stored(_ entity: PropertyLayout) -> [PropertyLayout.Slot] {
    entity.slots.filter { !$0.isHidden && !$0.isTransient }.sorted { $0.name < $1.name }
  }

  func text(_ terminal: Terminal, withProperties: Bool) -> String {
    var columns = [TextTable.Column("entity", .left), TextTable.Column("objects", .right)]
    if withProperties {
      columns.append(TextTable.Column("property", .left))
    } else {
      columns += [TextTable.Column("attributes", .right), TextTable.Column("relationships", .right)]
    }
    columns += [TextTable.Column("Z_ENT", .right), TextTable.Column("table", .left)]
    var table = TextTable(columns)
    for entity in _layouts {
      let indent = String(repeating: "  ", count: _depth(entity))
      let slots = _stored(entity)
      let attributes = slots.count { $0.isAttribute }
      var cells: [TextTable.Cell] = [
        .init(indent + entity.entityName, .bold),
        .init(entity.isAbstract ? "-" : String(_counts[entity.entityNumber] ?? 0)),
      ]
      cells += withProperties ? [""] : [.init(String(attributes)), .init(String(slots.count - attributes))]
      cells += [
        .init(String(_reader.anatomy.storedNumber(of: entity.entityNumber))),
        .init(_reader.anatomy.table(of: entity.entityNumber).name),
      ]
      table.add(cells)
      guard withProperties else { continue }
      for slot in slots where slot.owner == entity.entityNumber {
        table.add([.init("\(indent)  \(slot.name)"), "", .init(_kind(slot))])
      }
    }
    guard terminal.isInteractive else { return table.text(usesColor: false) }
    return table.fitted(to: terminal.width).table.text(usesColor: terminal.usesColor)
  }

  private func _depth(_ entity: PropertyLayout) -> Int {
    entity.parentNumber.map { 1 + _depth(_reader.layout.layout(numbered: $0)) } ?? 0
  }

  private func _kind(_ slot: PropertyLayout.Slot) -> String {
    if let attribute = slot.attribute {
      return attribute.type.fileName + (slot.isOptional ? "" : ", required")
    }
    guard let relationship = slot.relationship else { return "" }
    let arrow = relationship.isToMany ? (relationship.isOrdered ? "ordered ->> " : "->> ") : "-> "
    return arrow + _reader.layout.layout(numbered: relationship.destination).entityName
  }

  var json: JSONText {
    .array(
      _layouts.map { entity in
        .object([
          ("name", .string(entity.entityName)),
          (
            "parent",
            entity.parentNumber.map { .string(_reader.layout.layout(numbered: $0).entityName) } ?? .null
          ),
          ("isAbstract", .boolean(entity.isAbstract)),
          ("objects", .integer(_counts[entity.entityNumber] ?? 0)),
          ("table", .string(_reader.anatomy.table(of: entity.entityNumber).name)),
          ("number", .integer(_reader.anatomy.storedNumber(of: entity.entityNumber))),
          (
            "properties",
            .array(
              _stored(entity).map {
                .object([
                  ("name", .string($0.name)), ("kind", .string(_kind($0))),
                  ("isOptional", .boolean($0.isOptional)),
                ])
              })
          ),
        ])
      })
  }
}
