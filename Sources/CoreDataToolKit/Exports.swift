/// Commands read and write JSON; the JSON module has no other dependencies, so that a compiler plugin can use
/// it.
@_exported import CoreDataJSON
