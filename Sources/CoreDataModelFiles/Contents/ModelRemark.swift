/// Something in the XML of a model that is read as if it were not there.
package struct ModelRemark: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// A default value or limit that is none of its attribute's type.
    case unreadableValue
    /// An element or attribute whose name is close to a known one.
    case misspelt
    /// Any other unknown element or attribute; a later Xcode may write it.
    case unknown
  }

  package let kind: Kind
  package let line: Int
  package let column: Int
  /// A sentence without full stop.
  package let message: String

  package init(_ kind: Kind, line: Int, column: Int, message: String) {
    self.kind = kind
    self.line = line
    self.column = column
    self.message = message
  }
}
