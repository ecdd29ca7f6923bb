import CoreData
import CoreDataModelSchema

/// The choice of an entity in a form.
enum EntityMenu {
  /// - Parameters:
  ///   - all: The words of the choice of all entities.
  ///   - chosen: Name of the chosen entity; nil for all.
  static func html(_ layouts: [PropertyLayout], all: HTML, chosen: String?) -> HTML {
    let options = layouts.map(\.entityName).sorted().map { name in
      HTML.tag("option", ["value": name, "selected": name == chosen ? "" : nil], HTML(name))
    }
    return .tag(
      "select", ["id": "entity", "name": "entity"], [.tag("option", ["value": ""], all)] + options)
  }
}
