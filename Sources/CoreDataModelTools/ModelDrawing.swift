import CoreDataModelSchema
import CoreDataToolKit

/// The diagram of a model for a page with its own style sheet, with boxes as links.
package enum ModelDrawing {
  /// Rules for the classes of the drawing's elements.
  package static var style: String { GraphDrawing.style }

  /// The drawing as an SVG element with class `graph`.
  ///
  /// - Parameter link: URL to which an entity's box links; nil for none.
  package static func markup(_ schema: ModelSchema, link: @escaping (String) -> String?) -> Markup {
    let drawing = GraphDrawing(ModelGraph(schema), link: link).markup
    guard case .element(let name, let attributes, let children) = drawing else { return drawing }
    // The role of an image would hide its links from screen readers.
    let kept = attributes.filter { $0.0 != "role" }
    return .element(name, attributes: kept + [("role", "group"), ("class", "graph")], children: children)
  }
}
