import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// A value of an object, in full.
struct ValueView {
  private let _attribute: ObjectReading.Attribute
  private let _object: ObjectLink
  private let _entity: PropertyLayout
  private let _store: ExploredStore
  private var _limits: ExplorerLimits { _store.limits }

  init(
    _ attribute: ObjectReading.Attribute, of object: ObjectLink, in entity: PropertyLayout,
    _ store: ExploredStore
  ) {
    (_attribute, _object, _entity, _store) = (attribute, object, entity, store)
  }

  var html: HTML {
    switch _attribute.cell {
    case .text(let text, let length):
      if text.isEmpty { return CellView.short(_attribute.cell) }
      let rest = length - text.unicodeScalars.count
      let end: HTML =
        rest > 0 ? .tag("p", ["class": "kind"], HTML("and \(Amount.text(rest, "more character"))")) : .empty
      return .tag("div", ["class": "prose"], HTML(text)) + end
    case .date(let seconds):
      return CellView.date(seconds) + .tag("span", ["class": "kind"], HTML("  UTC, \(seconds)"))
    case .bytes(let blob): return _blob(blob)
    default: return CellView.short(_attribute.cell)
    }
  }

  private var _place: Place {
    Place("/blob", ["entity": _object.entity, "key": String(_object.key), "name": _attribute.name])
  }

  private func _blob(_ blob: Blob) -> HTML {
    guard blob.count != nil else {
      return .tag("span", ["class": "bad"], "The external file with the bytes is missing.")
    }
    let words = HTML.tag(
      "p", ["class": "kind"], HTML(CellView.blob(blob) + " "), .link(_place.with("save", "1"), "Save"))
    if blob.picture != nil {
      return .void(
        "img", ["src": _place.address, "alt": "The picture in \(_attribute.name)", "class": "blob"]) + words
    }
    return words + (_decoded(blob) ?? _hex(blob))
  }

  /// An archive or a property list as a tree, a textual transformable value as text; nil for other bytes, and
  /// for values that are too long to read.
  private func _decoded(_ blob: Blob) -> HTML? {
    guard blob.head.count == blob.count else { return nil }
    if let text = _store.contents.text(in: blob.head, of: _attribute.name, in: _entity, _store.layout) {
      return .tag("div", ["class": "prose"], HTML(String(text.prefix(_limits.objectText))))
    }
    if let outline = ValueOutline(decoding: blob.head) { return OutlineView.html(outline) }
    guard blob.isTransformable, !blob.head.isEmpty, let text = String(validating: blob.head, as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value < 0x20 && !["\t", "\n", "\r"].contains($0) })
    else { return nil }
    let shown = text.prefix(_limits.objectText)
    return .tag("div", ["class": "prose"], HTML(String(shown) + (shown.endIndex < text.endIndex ? "…" : "")))
  }

  private func _hex(_ blob: Blob) -> HTML {
    .tag(
      "pre", ["class": "hex", "tabindex": "0", "aria-label": "First bytes of \(_attribute.name)"],
      HTML(Self.hex(Array(blob.head.prefix(_limits.hexBytes)))))
  }

  /// Bytes in hexadecimal and as text, sixteen a line.
  static func hex(_ bytes: [UInt8]) -> String {
    stride(from: 0, to: bytes.count, by: 16).map { start in
      let line = bytes[start..<min(start + 16, bytes.count)]
      let digits = line.map { String(format: "%02x", $0) }.joined(separator: " ")
      let text = line.map { (0x20..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "·" }.joined()
      let blanks = String(repeating: " ", count: 48 - digits.count)
      return String(format: "%06x  ", start) + digits + blanks + text
    }.joined(separator: "\n")
  }
}
