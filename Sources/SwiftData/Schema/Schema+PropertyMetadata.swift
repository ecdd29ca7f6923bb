extension Schema {
  /// What the macro says of one stored property, or of several for a constraint.
  public struct PropertyMetadata {
    let name: String
    let keypath: AnyKeyPath
    let defaultValue: Any?
    let metadata: (any SchemaProperty)?

    /// Creates what is known of a property.
    ///
    /// - Parameters:
    ///   - name: Name of the property.
    ///   - keypath: Key path of the property, which tells its type.
    ///   - defaultValue: The initial value.
    ///   - metadata: What `@Attribute`, `@Relationship`, `#Unique` or `#Index` says.
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
