import Testing
@testable import ModelFiles

@Suite struct ModelFilesPlaceholder { @Test func builds() {} }
