import Testing
@testable import PredicateLanguage

@Suite struct PredicateLanguagePlaceholder { @Test func builds() {} }
