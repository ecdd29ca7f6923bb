/// Lets no two models have equal values in all properties of one of the arrays.
///
/// Stands in the body of the class, once: `#Unique<Trip>([\.name, \.start], [\.code])`. A saved model that has the
/// values of another takes the other's place.
@freestanding(declaration)
public macro Unique<T>(_ constraints: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "UniqueMacro") where T: PersistentModel

/// Makes indexes for fetches, one for each array, with the properties in its order.
///
/// Stands in the body of the class, once.
@freestanding(declaration)
public macro Index<T>(_ indices: [PartialKeyPath<T>]...) =
  #externalMacro(module: "SwiftDataMacros", type: "IndexMacro") where T: PersistentModel

/// Makes indexes for fetches, of the kinds given: `#Index<Place>(.binary([\.name]), .rtree([\.latitude, \.longitude]))`.
///
/// Stands in the body of the class, once.
@freestanding(declaration)
public macro Index<T>(_ indices: Schema.Index<T>.Types<T>...) =
  #externalMacro(module: "SwiftDataMacros", type: "IndexMacro") where T: PersistentModel
