import Foundation

/// A permanent object ID as text: `x-coredata://<store UUID>/<Entity>/p<reference>`.
struct ObjectURI {
  let store: String
  let entity: String
  /// What follows the "p": a number, or the text of a reference that a custom store has chosen.
  let reference: String

  /// Nil for anything that is not a permanent object ID.
  init?(_ url: URL) {
    let text = url.absoluteString
    let prefix = "x-coredata://"
    guard text.lowercased().hasPrefix(prefix) else { return nil }
    let parts = text.dropFirst(prefix.count).split(
      separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[2].first == "p",
      let entity = parts[1].removingPercentEncoding
    else { return nil }
    store = String(parts[0])
    self.entity = entity
    reference = String(parts[2].dropFirst())
  }
}

extension NSManagedObjectID {
  /// The ID as a URI.
  final var uri: URL {
    let name = space.layout.entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
    let text =
      if let store = space.store {
        "x-coredata://\(store.identifier)/\(name)/p\(space.references?.pathText(of: reference) ?? "\(reference)")"
      } else {
        "x-coredata:///\(name)/t\(Self._process)\(reference)"
      }
    if let url = URL(string: text) { return url }
    // The UUID comes from the file; a damaged one may be no host name.
    let store = space.store?.identifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return URL(string: "x-coredata://\(store)/\(name)/p\(reference)")
      ?? URL(string: "x-coredata:///\(name)/p\(reference)") ?? URL(fileURLWithPath: "/\(reference)")
  }

  /// Makes temporary IDs of two runs of a program different.
  private static let _process = UUID().uuidString + "-"
}
