import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation

/// The value of a table's cell, or of a line of an object's page.
enum Cell: Sendable, Hashable {
  case null
  case number(String)
  case boolean(Bool)
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  /// The first part of a text, and the number of characters of the whole text.
  case text(String, length: Int)
  case uuid(UUID)
  /// Bytes: the first of them, and their total number.
  case bytes(Blob)
  case object(ObjectLink)
  /// A to-one whose destination is missing.
  case dangling(entity: String, key: Int64)
  /// Number of members; whether there may be more.
  case members(Int, isMore: Bool)
  /// A value that is invalid for its type, as stored.
  case misfit(String)
}

extension Cell {
  /// The cell of a number, truth value, date or UUID; nil for a value that the attribute's type does not have, and for types
  /// of which tables show a part.
  init?(_ value: Binding, of attribute: AttributeSchema) {
    switch (attribute.type.form, value) {
    case (.boolean, .int(let number)): self = .boolean(number != 0)
    case (.date, .int(let number)): self = .date(Double(number))
    case (.date, .double(let number)): self = .date(number)
    case (.integer16, .int(let number)), (.integer32, .int(let number)), (.integer64, .int(let number)),
      (.double, .int(let number)), (.float, .int(let number)), (.decimal, .int(let number)):
      self = .number(String(number))
    case (.integer16, .double(let number)), (.integer32, .double(let number)),
      (.integer64, .double(let number)):
      self = .number("\(number)")
    case (.double, .double(let number)), (.float, .double(let number)), (.decimal, .double(let number)):
      self = .number(Cell.text(of: number))
    case (.uuid, .blob(let bytes)) where bytes.count == 16:
      self = .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    default: return nil
    }
  }

  /// A number as tables show it: a whole one without a fraction.
  static func text(of number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
  }
}

/// An object as a link shows it.
struct ObjectLink: Sendable, Hashable {
  let entity: String
  let key: Int64
  /// Value of its label attribute; nil without one.
  let label: String?
  /// `Book/p17`.
  var identifier: String { "\(entity)/p\(key)" }
}

/// The bytes of an attribute that were read.
struct Blob: Sendable, Hashable {
  let head: [UInt8]
  /// Nil if the file with the bytes is missing.
  let count: Int?
  var isTransformable = false

  /// Format of the picture, by its first bytes; nil for other data.
  var picture: Picture? { Picture(head) }
}

/// Displayable picture formats: those that cannot contain scripts.
enum Picture: String, Sendable {
  case png = "image/png"
  case jpeg = "image/jpeg"
  case gif = "image/gif"
  case webp = "image/webp"

  init?(_ head: [UInt8]) {
    if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) {
      self = .gif
    } else if head.count >= 12, head.starts(with: Array("RIFF".utf8)), head[8..<12].elementsEqual("WEBP".utf8)
    {
      self = .webp
    } else {
      return nil
    }
  }

  /// Display name.
  var name: String {
    switch self {
    case .png: "PNG"
    case .jpeg: "JPEG"
    case .gif: "GIF"
    case .webp: "WebP"
    }
  }
}
