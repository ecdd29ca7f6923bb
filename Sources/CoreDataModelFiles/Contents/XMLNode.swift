/// An element of a model file, with its location.
struct XMLNode {
  let name: String
  let attributes: [String: String]
  let line: Int
  let column: Int
  var children: [XMLNode] = []

  func children(named name: String) -> [XMLNode] { children.filter { $0.name == name } }

  subscript(attribute: String) -> String? { attributes[attribute] }
}
