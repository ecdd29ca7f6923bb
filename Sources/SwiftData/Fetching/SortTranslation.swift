import CoreData

/// Translates sort descriptors of models to the engine's.
enum SortTranslation {
  /// The reason why a descriptor can't be translated for a store.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: ``Failure`` for an order that stores don't support.
  static func descriptors<T: PersistentModel>(
    _ descriptors: [SortDescriptor<T>], _ modelClass: ModelClass
  ) throws -> [NSSortDescriptor] {
    try descriptors.map { try _descriptor($0, modelClass) }
  }

  private static func _descriptor<T: PersistentModel>(
    _ descriptor: SortDescriptor<T>, _ modelClass: ModelClass
  ) throws -> NSSortDescriptor {
    guard let keyPath = descriptor.keyPath else {
      throw Failure(description: "a sort descriptor without a key path")
    }
    let path = try ModelVocabulary.path(of: keyPath, from: modelClass)
    guard !path.isEmpty else { throw Failure(description: "an order by identity") }
    let key = path.joined(separator: ".")
    let ascending = descriptor.order == .forward
    if let selector = try _selector(descriptor) {
      return NSSortDescriptor(key: key, ascending: ascending, selector: selector)
    }
    return NSSortDescriptor(key: key, ascending: ascending)
  }

  /// Returns the string comparison: nil for byte by byte, and for other values.
  ///
  /// Without a comparator, strings sort as in Finder, like Apple's descriptors created without one.
  private static func _selector<T>(_ descriptor: SortDescriptor<T>) throws -> String? {
    guard var comparator = descriptor.stringComparator else {
      return _isPlainText(descriptor) ? "localizedStandardCompare:" : nil
    }
    comparator.order = .forward
    switch comparator {
    case .lexical: return nil
    case .localized: return "localizedCompare:"
    case .localizedStandard: return "localizedStandardCompare:"
    default: throw Failure(description: "the comparator \(comparator)")
    }
  }

  /// Whether a descriptor sorts by text without specifying a comparison.
  private static func _isPlainText<T>(_ descriptor: SortDescriptor<T>) -> Bool {
    guard descriptor.stringComparator == nil, let keyPath = descriptor.keyPath else { return false }
    let type = type(of: keyPath).valueType
    return type == String.self || type == String?.self
  }

  /// Compares two models by a descriptor, as a store would.
  static func compare<T>(_ left: T, _ right: T, by descriptor: SortDescriptor<T>) -> ComparisonResult {
    guard let keyPath = descriptor.keyPath, let selector = try? _selector(descriptor) else {
      return descriptor.compare(left, right)
    }
    func text(_ model: T) -> String? { flattened(model[keyPath: keyPath]) as? String }
    let order: ComparisonResult =
      switch (text(left), text(right)) {
      case (nil, nil): .orderedSame
      case (nil, _): .orderedAscending
      case (_, nil): .orderedDescending
      case (let first?, let second?):
        selector == "localizedCompare:"
          ? first.localizedCompare(second) : first.localizedStandardCompare(second)
      }
    guard descriptor.order == .reverse else { return order }
    return ComparisonResult(rawValue: -order.rawValue)!
  }
}

extension String.StandardComparator {
  /// Compares like names in Finder. Foundation provides it on Apple's platforms only.
  public static let localizedStandard = _localized(options: 321)
  /// Compares by the rules of the locale. Foundation provides it on Apple's platforms only.
  public static let localized = _localized(options: 0)

  /// Foundation on this platform provides the members but no initializer for them. SwiftData itself compares
  /// by them.
  private static func _localized(options: UInt) -> String.StandardComparator {
    var comparator = String.StandardComparator.lexical
    guard let fields = TypeReflection.fields(of: Self.self),
      let flag = fields.first(where: { $0.name == "isLocalized" && $0.type == Bool.self }),
      let mask = fields.first(where: {
        $0.name == "options" && $0.offset + MemoryLayout<UInt>.size <= flag.offset
      })
    else { return comparator }
    withUnsafeMutableBytes(of: &comparator) { bytes in
      bytes.storeBytes(of: true, toByteOffset: flag.offset, as: Bool.self)
      bytes.storeBytes(of: options, toByteOffset: mask.offset, as: UInt.self)
    }
    return comparator
  }
}
