/// Stops the program: what was asked makes no sense and can't be reported otherwise.
func programmerError(_ message: String) -> Never { fatalError("SwiftData: \(message)") }
