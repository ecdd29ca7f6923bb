import Foundation

/// Describes an attribute that the store computes at each save.
///
/// ```swift
/// let searchTitle = NSDerivedAttributeDescription()
/// searchTitle.name = "searchTitle"
/// searchTitle.type = .string
/// searchTitle.derivationExpression = NSExpression(format: "canonical:(title)")
/// ```
open class NSDerivedAttributeDescription: NSAttributeDescription {
  private var _expression: NSExpression?
  /// The expression's text in the model file, until it is first read as an object.
  private var _text: String?

  /// The source of the value: a key path, `canonical:`, `uppercase:` or `lowercase:` of one, an aggregate of
  /// a to-many relationship such as `pages.@count`, or `now()`.
  ///
  /// Nil if the text in the model file is not a valid expression.
  ///
  /// ```swift
  /// let bookCount = NSDerivedAttributeDescription()
  /// bookCount.name = "bookCount"
  /// bookCount.type = .integer64
  /// bookCount.derivationExpression = NSExpression(format: "books.@count")
  /// ```
  open var derivationExpression: NSExpression? {
    get {
      if let _expression { return _expression }
      guard let _text else { return nil }
      let parsed = try? ModelText.expression(_text)
      if !isFrozen { _expression = parsed }
      return parsed
    }
    set {
      willMutate("derivationExpression")
      _expression = newValue
      _text = nil
    }
  }

  /// The expression as text.
  final var derivationText: String? {
    get { _text ?? _expression?.description }
    set {
      _text = newValue
      _expression = nil
    }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSDerivedAttributeDescription()
    copyAttributeState(to: copy)
    copy._expression = _expression
    copy._text = _text
    return copy
  }
}
