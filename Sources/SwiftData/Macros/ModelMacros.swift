/// Makes a class persistent: its stored properties become those of an entity.
///
/// ```swift
/// @Model final class Book {
///   @Attribute(.unique) var isbn: String
///   var title = ""
///   @Relationship(deleteRule: .cascade, inverse: \Chapter.book) var chapters: [Chapter] = []
///
///   init(isbn: String) { self.isbn = isbn }
/// }
/// ```
///
/// The class conforms to ``PersistentModel`` and `Observable`. It is not Sendable, unless it says so itself: pass
/// ``PersistentModel/persistentModelID`` to other actors. A subclass of a model carries the attribute, too.
@attached(
  member, conformances: Observable, PersistentModel, Sendable,
  names: named(_$backingData), named(persistentBackingData), named(_modelStorage), named(schemaMetadata),
  named(init), named(_$observationRegistrar), named(_SwiftDataNoType), named(access), named(withMutation),
  named(Root)
)
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "ModelMacro")

/// Supplies the accessors of a stored property. Written by ``Model()``.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty() =
  #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")

/// Supplies the accessors of a stored property, given its place among those of the class. Written by ``Model()``.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty(at index: Int) =
  #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")
