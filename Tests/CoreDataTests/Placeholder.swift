import Testing
@testable import CoreData

@Suite struct CoreDataPlaceholder { @Test func builds() {} }
