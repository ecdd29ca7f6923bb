/// A screen of an app that reads: what it fetches, and what it shows of the objects.
struct Screen: Sendable, Codable, Equatable {
  enum Kind: String, Sendable, Codable, CaseIterable {
    /// Rows that are scrolled, and searched as a user types.
    case list
    /// Objects opened one by one, with what their relationships lead to.
    case detail
    /// A number of objects.
    case badge
  }

  /// A search in a list.
  struct Search: Sendable, Codable, Equatable {
    var attribute: String
    /// What the user has typed, letter by letter.
    var texts: [String]
  }

  var kind: Kind
  var name: String
  var entity: String
  /// As people type it; nil for all objects.
  var predicate: String?
  /// Key paths, with a minus for descending ones.
  var sort: [String] = []
  /// The fetch batch size; 0 for none.
  var batch = 0
  /// Key paths for prefetching.
  var prefetch: [String] = []
  /// The key paths that are shown of an object.
  var shows: [String] = []
  /// The rows that a list shows at once.
  var rows = 20
  /// The pages of a list that are scrolled through.
  var pages = 10
  /// The objects of a detail screen that are opened.
  var objects = 20
  var search: Search?
}
