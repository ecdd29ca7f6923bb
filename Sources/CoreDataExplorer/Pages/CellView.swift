import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Cells as HTML.
enum CellView {
  /// A cell of a table.
  static func table(_ cell: Cell) -> HTML {
    .tag("td", ["class": isNumeric(cell) ? "num" : nil], short(cell))
  }

  /// Whether the cell is right-aligned.
  static func isNumeric(_ cell: Cell) -> Bool {
    switch cell {
    case .number, .members: true
    default: false
    }
  }

  /// The cell on one line.
  static func short(_ cell: Cell) -> HTML {
    switch cell {
    case .null: return .tag("span", ["class": "nil"], "nil")
    case .number(let text): return HTML(text)
    case .boolean(let flag):
      return .tag("span", ["class": flag ? "yes" : "no"], HTML(flag ? "true" : "false"))
    case .date(let seconds): return date(seconds)
    case .text(let text, let length):
      let isCut = length > text.unicodeScalars.count
      if text.isEmpty { return .tag("span", ["class": "nil"], "empty") }
      return .tag(
        "span", ["class": "text", "title": text.count > 40 ? text : nil],
        HTML(ValueText.onOneLine(text) + (isCut ? "…" : "")))
    case .uuid(let uuid): return .tag("code", [:], HTML(uuid.uuidString))
    case .bytes(let blob): return .tag("span", ["class": "kind"], HTML(self.blob(blob)))
    case .object(let link): return object(link)
    case .dangling(let entity, let key):
      return .tag(
        "span", ["class": "bad", "title": "No row has this key"], HTML("\(entity)/p\(key), missing"))
    case .members(let count, let isMore): return HTML(Amount.text(count) + (isMore ? "+" : ""))
    case .misfit(let text):
      return .tag("span", ["class": "bad", "title": "Not of the attribute's type"], HTML(text))
    }
  }

  /// A moment, in UTC.
  static func date(_ seconds: Double) -> HTML {
    let shown = ISODate.shown(seconds)
    return .tag("time", ["datetime": ISODate.text(seconds), "title": "\(shown) UTC"], HTML(shown))
  }

  /// The cell as text of a link.
  static func plainText(_ cell: Cell) -> HTML {
    switch cell {
    case .object(let link): HTML(link.label.map { ValueText.onOneLine($0) } ?? link.identifier)
    default: short(cell)
    }
  }

  /// A picture as a table's cell shows it.
  static func thumbnail(_ blob: Blob, of object: ObjectLink, _ property: String) -> HTML {
    let place = Place("/blob", ["entity": object.entity, "key": String(object.key), "name": property])
    return .link(
      place, title: self.blob(blob),
      .void(
        "img",
        [
          "src": place.address, "alt": "\(property) of \(object.identifier)", "class": "thumbnail",
          "loading": "lazy",
        ]))
  }

  /// A link to an object, with its label.
  static func object(_ link: ObjectLink) -> HTML {
    let place = ObjectPage.place(link)
    guard let label = link.label else { return .link(place, class: "object", HTML(link.identifier)) }
    return .link(place, class: "object", title: link.identifier, HTML(ValueText.onOneLine(label)))
  }

  /// Describes bytes: "PNG, 12 kB".
  static func blob(_ blob: Blob) -> String {
    guard let count = blob.count else { return "file missing" }
    let kind = blob.picture.map { $0.name + ", " } ?? (blob.isTransformable ? "transformable, " : "")
    return kind + ByteCount.text(count)
  }

  /// A cell as a field of CSV or text of an export; nil for null.
  static func plain(_ cell: Cell) -> String? {
    switch cell {
    case .null: nil
    case .number(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .date(let seconds): ISODate.text(seconds)
    case .text(let text, _): text
    case .uuid(let uuid): uuid.uuidString
    case .bytes(let blob): blob.count.map(String.init) ?? ""
    case .object(let link): link.identifier
    case .dangling(let entity, let key): "\(entity)/p\(key)"
    case .members(let count, _): String(count)
    case .misfit(let text): text
    }
  }
}
