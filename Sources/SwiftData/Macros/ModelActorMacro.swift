/// Gives an actor a context of its own, on whose queue the actor runs.
///
/// ```swift
/// @ModelActor actor Importer {
///   func add(_ title: String) throws {
///     modelContext.insert(Book(title: title))
///     try modelContext.save()
///   }
/// }
/// let importer = Importer(modelContainer: container)
/// ```
///
/// An actor with further properties needs an initializer of its own, which also sets `modelContainer` and
/// `modelExecutor`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SwiftDataMacros", type: "ModelActorMacro")
