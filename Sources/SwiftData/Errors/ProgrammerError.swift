/// Traps for a programming error that can't be reported otherwise.
func programmerError(_ message: String) -> Never { fatalError("SwiftData: \(message)") }
