/// A decoded value as nested lists.
enum OutlineView {
  static func html(_ outline: ValueOutline) -> HTML {
    .tag("div", ["class": "outline"], _node(outline))
  }

  private static func _node(_ node: ValueOutline) -> HTML {
    let label = node.label.map { HTML.tag("span", ["class": "key"], HTML($0)) + ": " } ?? .empty
    return label + _value(node) + _children(node)
  }

  private static func _value(_ node: ValueOutline) -> HTML {
    switch node.style {
    case .text: .tag("span", ["class": "prose"], node.text.isEmpty ? "empty" : HTML(node.text))
    case .number, .date: HTML(node.text)
    case .code: .tag("code", [:], HTML(node.text))
    case .type: .tag("span", ["class": "kind"], HTML(node.text + (node.children.isEmpty ? ", empty" : "")))
    case .remark: .tag("span", ["class": "nil"], HTML(node.text))
    }
  }

  private static func _children(_ node: ValueOutline) -> HTML {
    guard !node.children.isEmpty || node.omitted > 0 else { return .empty }
    let rest: HTML =
      node.omitted > 0
      ? .tag("li", ["class": "kind"], HTML("and \(Amount.text(node.omitted)) more")) : .empty
    return .tag("ul", [:], node.children.map { .tag("li", [:], _node($0)) } + [rest])
  }
}
