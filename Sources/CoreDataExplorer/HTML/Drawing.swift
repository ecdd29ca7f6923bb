import CoreDataToolKit

/// An SVG of `CoreDataModelTools`, without the style element, which the pages' security policy forbids.
struct Drawing: Sendable {
  let text: String

  init(_ markup: Markup) { text = Self._withoutStyle(markup).text }

  private static func _withoutStyle(_ markup: Markup) -> Markup {
    guard case .element(let name, let attributes, let children) = markup else { return markup }
    let kept = children.filter {
      if case .element("style", _, _) = $0 { false } else { true }
    }
    return .element(name, attributes: attributes, children: kept.map(_withoutStyle))
  }
}
