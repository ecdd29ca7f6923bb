import CoreDataStoreTools
import Foundation

/// An archived value as a tree of names and texts, for an object's page.
///
/// Keyed archives and binary property lists are read as data. No class is ever instantiated, so class names
/// in the bytes are harmless, and the size of the tree is limited regardless of the bytes.
struct ValueOutline: Sendable, Hashable {
  enum Style: Sendable, Hashable {
    case text, number, date, code
    /// The class or kind of a collection or an object.
    case type
    /// A remark of the explorer, for example about damage.
    case remark
  }

  /// Key, index or name of a field; nil for the root and members of sets.
  var label: String?
  let text: String
  let style: Style
  var children: [ValueOutline] = []
  /// Number of omitted children.
  var omitted = 0

  init(_ text: String, _ style: Style) { (self.text, self.style) = (text, style) }

  /// Size limits of a tree.
  struct Limits: Sendable {
    var depth = 8
    /// Nodes of the whole tree.
    var nodes = 400
    /// Members of one collection, fields of one object.
    var members = 50
    /// Characters of a text.
    var text = 500
    /// Characters of a key, or of the name of a class.
    var name = 120
    /// Bytes of data, as hexadecimal.
    var bytes = 32
    /// Fields that are searched for a name.
    var searched = 256

    init() {}
  }

  /// The tree of a keyed archive or a binary property list; nil for any other bytes.
  init?(decoding bytes: [UInt8], limits: Limits = Limits()) {
    guard let table = PropertyListTable(bytes) else { return nil }
    var builder = OutlineBuilder(table, limits)
    self = builder.root()
  }
}
