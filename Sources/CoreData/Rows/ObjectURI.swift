import Foundation

/// A permanent object ID as text: `x-coredata://<store UUID>/<Entity>/p<reference>`.
struct ObjectURI {
  let store: Substring
  let entity: Substring
  /// The part after the "p": a number, or the text of a custom store's reference.
  let reference: Substring

  /// Nil if the URL is not a permanent object ID.
  init?(_ url: URL) {
    // Works on bytes, since programs that store URIs parse one per look-up.
    var text = url.absoluteString
    text.makeContiguousUTF8()
    let bytes = text.utf8
    let slash = UInt8(ascii: "/")
    guard
      let start = bytes.index(bytes.startIndex, offsetBy: Self._prefix.utf8.count, limitedBy: bytes.endIndex),
      bytes[..<start].elementsEqual(Self._prefix.utf8, by: { $0 == $1 || $0 | 0x20 == $1 }),
      let storeEnd = bytes[start...].firstIndex(of: slash), storeEnd > start,
      let entityEnd = bytes[bytes.index(after: storeEnd)...].firstIndex(of: slash)
    else { return nil }
    let name = bytes[bytes.index(after: storeEnd)..<entityEnd]
    let last = bytes[bytes.index(after: entityEnd)...]
    guard last.first == UInt8(ascii: "p") else { return nil }
    store = Substring(bytes[start..<storeEnd])
    reference = Substring(last.dropFirst())
    if name.contains(UInt8(ascii: "%")) {
      guard let decoded = Substring(name).removingPercentEncoding else { return nil }
      entity = decoded[...]
    } else {
      entity = Substring(name)
    }
  }

  private static let _prefix = "x-coredata://"
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
    // The UUID comes from the file; in a damaged one it may not be a valid host name.
    let store = space.store?.identifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return URL(string: "x-coredata://\(store)/\(name)/p\(reference)")
      ?? URL(string: "x-coredata:///\(name)/p\(reference)") ?? URL(fileURLWithPath: "/\(reference)")
  }

  /// Distinguishes the temporary IDs of two runs of a program.
  private static let _process = UUID().uuidString + "-"
}
