/// Stored properties and cases of a type, from the compiler's reflection metadata. Layouts follow the Swift
/// ABI's type metadata.
enum TypeReflection {
  /// A stored property of a structure.
  struct Field {
    let name: String
    let type: Any.Type
    let offset: Int
  }

  /// A case of an enumeration.
  struct Case {
    let name: String
    let hasPayload: Bool
  }

  enum Kind: Equatable { case structure, enumeration, other }

  static func kind(of type: Any.Type) -> Kind {
    switch _words(type)[0] {
    case 0x200: .structure
    case 0x201: .enumeration
    default: .other
    }
  }

  /// Whether the type belongs to the standard library or Foundation.
  static func isOfTheSystem(_ type: Any.Type) -> Bool {
    let module = String(reflecting: type).prefix { $0 != "." }
    return ["Swift", "Foundation", "FoundationEssentials", "__C", "FoundationInternationalization"]
      .contains(String(module))
  }

  /// Returns the stored properties of a structure in declared order; nil if one is unknown.
  static func fields(of type: Any.Type) -> [Field]? {
    guard kind(of: type) == .structure, let (descriptor, records) = _records(type) else { return nil }
    let offsetOfOffsets = (descriptor + 24).loadUnaligned(as: UInt32.self)
    let offsets = UnsafeRawPointer(_words(type)) + Int(offsetOfOffsets) * 8
    var fields: [Field] = []
    for (index, record) in records.enumerated() {
      guard let name = record.name, let fieldType = _type(record.mangledType, in: type, descriptor) else {
        return nil
      }
      let offset = (offsets + index * 4).loadUnaligned(as: UInt32.self)
      fields.append(Field(name: name, type: fieldType, offset: Int(offset)))
    }
    return fields
  }

  /// Returns the cases of an enumeration: in declared order, those with payloads first.
  static func cases(of type: Any.Type) -> [Case]? {
    guard kind(of: type) == .enumeration, let (_, records) = _records(type) else { return nil }
    var cases: [Case] = []
    for record in records {
      guard let name = record.name else { return nil }
      cases.append(Case(name: name, hasPayload: record.mangledType != nil))
    }
    return cases
  }

  // MARK: Metadata

  private struct Record {
    let name: String?
    let mangledType: UnsafeRawPointer?
  }

  private static func _words(_ type: Any.Type) -> UnsafePointer<Int> {
    unsafeBitCast(type, to: UnsafePointer<Int>.self)
  }

  /// Resolves a relative pointer; nil for null.
  private static func _target(_ place: UnsafeRawPointer) -> UnsafeRawPointer? {
    let offset = place.loadUnaligned(as: Int32.self)
    return offset == 0 ? nil : place + Int(offset)
  }

  private static func _records(_ type: Any.Type) -> (descriptor: UnsafeRawPointer, records: [Record])? {
    guard let descriptor = UnsafeRawPointer(bitPattern: _words(type)[1]),
      let fields = _target(descriptor + 16)
    else { return nil }
    // Mangled name and superclass as relative pointers, kind and size of a record, number of records.
    let size = Int((fields + 10).loadUnaligned(as: UInt16.self))
    let count = Int((fields + 12).loadUnaligned(as: UInt32.self))
    guard size >= 12, count < 10_000 else { return nil }
    let records = (0..<count).map { index in
      let record = fields + 16 + index * size
      return Record(
        name: _target(record + 8).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) },
        mangledType: _target(record + 4))
    }
    return (descriptor, records)
  }

  /// Resolves a symbolic mangled name, in the context of a type with its generic arguments.
  private static func _type(
    _ name: UnsafeRawPointer?, in type: Any.Type, _ descriptor: UnsafeRawPointer
  ) -> Any.Type? {
    guard let name else { return nil }
    var end = name
    while true {
      let byte = end.load(as: UInt8.self)
      if byte == 0 { break }
      // Symbolic references are followed by a relative pointer, or an absolute one.
      end += byte >= 0x01 && byte <= 0x17 ? 5 : byte >= 0x18 && byte <= 0x1F ? 9 : 1
    }
    // Generic arguments follow the descriptor's pointer.
    let arguments = UnsafeRawPointer(_words(type) + 2)
    return _getTypeByMangledNameInContext(
      name.assumingMemoryBound(to: UInt8.self), UInt(end - name), genericContext: descriptor,
      genericArguments: arguments)
  }
}
