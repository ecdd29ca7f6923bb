import Testing
@testable import ToolKit

@Suite struct ToolKitPlaceholder { @Test func builds() {} }
