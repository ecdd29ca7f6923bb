import CoreData
import CoreDataModelSchema

/// The screens that a model tells: its fetch request templates, or a list, a detail page and a badge of what is imported.
struct ScreenInference {
  let layout: ModelLayout
  let listing: ImportListing

  /// The screens, and the templates of which none can be made, with the reason.
  func screens() -> (screens: [Screen], problems: [String]) {
    var screens: [Screen] = []
    var problems: [String] = []
    for request in layout.schema.fetchRequests.sorted(by: { $0.name < $1.name }) {
      guard let entity = layout.layoutsByName[request.entity] else { continue }
      if let predicate = request.predicate, predicate.contains("$") {
        problems.append("the fetch request '\(request.name)' has variables: \(predicate)")
        continue
      }
      let isCount = request.resultType == NSFetchRequestResultType.countResultType.rawValue
      var screen = Screen(kind: isCount ? .badge : .list, name: request.name, entity: entity.entityName)
      screen.predicate = request.predicate
      if !isCount {
        (screen.batch, screen.shows) = (request.fetchBatchSize, _shown(of: entity))
        // A model's file has no order of a request.
        screen.sort = Array(screen.shows.prefix(1))
      }
      screens.append(screen)
    }
    return (screens.isEmpty ? _usual : screens, problems)
  }

  /// The screens of a model without templates.
  private var _usual: [Screen] {
    guard let entity = layout.layoutsByName[listing.entity] else { return [] }
    var list = Screen(kind: .list, name: "list of \(listing.entity)", entity: listing.entity)
    (list.sort, list.shows) = ([listing.label], _shown(of: entity))
    var detail = Screen(kind: .detail, name: "detail of \(listing.entity)", entity: listing.entity)
    detail.shows = _attributes(of: entity) + _related(entity) { _ in true }
    return [list, detail, Screen(kind: .badge, name: "badge of \(listing.entity)", entity: listing.entity)]
  }

  /// What a row shows: a few attributes, and the names of what its to-ones lead to.
  private func _shown(of entity: PropertyLayout) -> [String] {
    Array(_attributes(of: entity).prefix(4)) + _related(entity, where: \.isToOne)
  }

  private func _attributes(of entity: PropertyLayout) -> [String] {
    let slots = entity.slots.filter { $0.isAttribute && $0.isImported && $0.form != .binaryData }
    let names = slots.map(\.name)
    let label = entity.entityName == listing.entity ? listing.label : slots.first { $0.form == .string }?.name
    guard let label, let place = names.firstIndex(of: label) else { return names }
    return [label] + names[..<place] + names[(place + 1)...]
  }

  private func _related(_ entity: PropertyLayout, where matches: (PropertyLayout.Slot) -> Bool) -> [String] {
    entity.slots.filter { !$0.isHidden && !$0.isAttribute && !$0.isTransient && matches($0) }.compactMap {
      slot in
      guard let relationship = slot.relationship else { return nil }
      let destination = layout.layout(numbered: relationship.destination)
      let texts = destination.slots.filter { $0.form == .string && !$0.isTransient }
      return (texts.first ?? destination.slots.first { $0.isAttribute && $0.isImported }).map {
        "\(slot.name).\($0.name)"
      }
    }
  }
}
