/// Commands read and write JSON; the module itself needs nothing else, so that a compiler plugin can use it.
@_exported import CoreDataJSON
