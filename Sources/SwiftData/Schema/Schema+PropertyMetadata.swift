extension Schema {
  /// The macro's description of one stored property, or of several for a constraint.
  public struct PropertyMetadata {
    let name: String
    let keypath: AnyKeyPath
    let defaultValue: Any?
    let metadata: (any SchemaProperty)?

    /// Creates the description of a property.
    ///
    /// - Parameters:
    ///   - name: Name of the property.
    ///   - keypath: Key path of the property, which determines its type.
    ///   - defaultValue: The initial value.
    ///   - metadata: The contents of `@Attribute`, `@Relationship`, `#Unique` or `#Index`.
    public init(
      name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil
    ) {
      self.name = name
      self.keypath = keypath
      self.defaultValue = defaultValue
      self.metadata = metadata
    }
  }
}
