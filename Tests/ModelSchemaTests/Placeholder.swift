import Testing
@testable import ModelSchema

@Suite struct ModelSchemaPlaceholder { @Test func builds() {} }
