// Repeatable random numbers, which the tools use as well.
@_exported import CoreDataToolKit
