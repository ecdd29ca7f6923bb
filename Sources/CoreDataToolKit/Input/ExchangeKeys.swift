/// The members of an exported object that are not properties.
package enum ExchangeKeys {
  /// The name of the object's entity.
  package static let entity = "$entity"
  /// The name by which other objects refer to it.
  package static let identifier = "$id"
}
