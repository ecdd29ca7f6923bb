/// Requires unique combinations of values for the properties of each array.
///
/// Use it once in the body of the class: `#Unique<Trip>([\.name, \.start], [\.code])`. Saving a model with
/// the values of another replaces the other.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "UniqueMacro") where T: PersistentModel

/// Declares indexes for fetches, one per array, with the properties in that order.
///
/// Use it once in the body of the class.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "IndexMacro") where T: PersistentModel

/// Declares indexes for fetches of the given kinds: `#Index<Place>(.binary([\.name]), .rtree([\.latitude,
/// \.longitude]))`.
///
/// Use it once in the body of the class.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "SwiftDataMacros", type: "IndexMacro") where T: PersistentModel
