/// A value of a binary property list.
package enum PlistValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  case data([UInt8])
  case string(String)
  /// Index into the object table of a keyed archive.
  case uid(Int)
  case array([PlistValue])
  case dictionary(PlistFields)
}
