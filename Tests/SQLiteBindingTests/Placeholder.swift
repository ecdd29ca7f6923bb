import Testing
@testable import SQLiteBinding

@Suite struct SQLiteBindingPlaceholder { @Test func builds() {} }
